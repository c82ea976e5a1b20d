import type { Command } from "@commander-js/extra-typings";
import { listWorkers } from "@millrace/job-admin";
import { parseQueue } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { examples } from "../examples.ts";
import { renderPage } from "../page.ts";

/** `workers`: who is alive. */
export function workersCommand(program: Command, cli: Cli): void {
  program
    .command("workers")
    .description("Lists the worker processes that are alive, and what they run.")
    .option("--queue <name>", "only this queue's", parseQueue)
    .addHelpText(
      "after",
      examples("millrace workers", "millrace workers --queue email --json | jq '.workers | length'"),
    )
    .action(async ({ queue }) => {
      const list = await listWorkers(queue);
      cli.show(list, () => {
        const head = ["queue", "host", "pid", "version", "started", "running", "of"];
        const rows = list.workers.map(({ queue, host, pid, version, startedAt, jobCount, concurrency }) => [
          ...[queue, host, pid, version, startedAt, jobCount, concurrency],
        ]);
        const table = renderPage(cli, { head, rows, cursor: null, empty: "no worker is alive" });
        return list.isCut ? `${table}\nthere are more` : table;
      });
    });
}
