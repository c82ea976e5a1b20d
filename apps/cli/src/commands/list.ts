import type { Command } from "@commander-js/extra-typings";
import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { jobStatuses, listJobs } from "@millrace/job-admin";
import { parsePageSize, parseQueue } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { examples } from "../examples.ts";
import { renderPage } from "../page.ts";
import { paintStatus } from "../paint-status.ts";

/** `list`: finds jobs. */
export function listCommand(program: Command, cli: Cli): void {
  program
    .command("list")
    .description(
      "Finds jobs, without their payloads: what runs, what waits, then what has failed and what has completed, each the newest first.",
    )
    .option("--queue <name>", "only this queue's", parseQueue)
    .option("--action <name>", "only this action's")
    .addOption(new Option("--status <status>", "only those in this state").choices(jobStatuses.options))
    .option("--from <time>", "created at this moment or later, such as 2030-01-01T06:00:00Z")
    .option("--to <time>", "created at this moment or earlier")
    .option("--workspace <id>", "only this workspace's")
    .option("--field <name=value>", "only with this value in a field that the contract declares searchable", parseField)
    .option("--limit <number>", "jobs at most, 200 or fewer", parsePageSize, 50)
    .option("--cursor <cursor>", "where an earlier page ended")
    .addHelpText(
      "after",
      examples("millrace list --queue email --status retrying", "millrace list --workspace ws-7 --limit 200 --json"),
    )
    .action(async ({ limit, cursor, workspace, ...filter }) => {
      const page = await listJobs({ ...filter, workspaceId: workspace }, { limit, cursor });
      cli.show(page, () => {
        const rows = page.jobs.map((job) => [
          job.createdAt ?? "?",
          job.queue,
          job.jobId,
          job.action ?? "?",
          paintStatus(cli, job.status),
          job.attempts,
          job.error ? `${job.error.code}: ${job.error.message}` : "",
        ]);
        const head = ["created", "queue", "job", "action", "status", "attempts", "error"];
        return renderPage(cli, { head, rows, cursor: page.cursor, empty: "no jobs" });
      });
    });
}

function parseField(text: string): { name: string; value: string } {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("Expected name=value.");
  return { name, value };
}
