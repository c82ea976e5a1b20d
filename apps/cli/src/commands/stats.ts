import { setTimeout as wait } from "node:timers/promises";
import { type Command, Option } from "@commander-js/extra-typings";
import { type QueueStats, readStats, type Stats } from "@millrace/job-admin";
import { QueueUnavailableError } from "@millrace/worker-config";
import { collectQueues, parseDuration } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { examples } from "../examples.ts";
import { renderTable } from "../table.ts";

/** `stats`: how the queues fare, once or again and again. */
export function statsCommand(program: Command, cli: Cli): void {
  program
    .command("stats")
    .description("Shows how each queue fares: jobs by state, throughput, waits and run times.")
    .option("--queue <name>", "only this queue; may be given several times", collectQueues)
    .option("--watch", "show it again and again, until Ctrl-C")
    .addOption(
      new Option("--interval <duration>", "with --watch: how often").argParser(parseDuration).default(2_000, "2s"),
    )
    .addHelpText("after", examples("millrace stats --watch", "millrace stats --queue email --json | jq .total.failed"))
    .action(async ({ queue, watch = false, interval }) => {
      if (!watch) return show(cli, await readStats(queue), false);
      while (!cli.signal.aborted) {
        try {
          show(cli, await readStats(queue), true);
        } catch (error) {
          // Whoever watches an outage wants to see its end.
          if (!(error instanceof QueueUnavailableError)) throw error;
          cli.note(error.code, error.message);
        }
        // Ctrl-C ends it.
        await wait(Math.max(100, interval), undefined, { signal: cli.signal }).catch(() => {});
      }
    });
}

function show(cli: Cli, stats: Stats, isAgain: boolean): void {
  // From the top, and what an earlier, longer table left below goes.
  const home = isAgain && cli.stdout.isTTY && !cli.isJson ? "\u001b[H\u001b[J" : "";
  cli.show(stats, () => home + render(cli, stats));
}

function render(cli: Cli, { queues, total }: Stats): string {
  const head = ["queue", "pending", "running", "retrying", "dead", "success", "cancelled", "skipped"];
  const timeHead = ["/min", "oldest", "wait p50", "run p95", ""];
  const rows = [
    ...queues.map((stats) => rowOf(cli, stats.queue, stats, stats.isPaused)),
    rowOf(cli, "total", total, false),
  ];
  return renderTable([...head, ...timeHead], rows, (text) => cli.paint("bold", text));
}

function rowOf(cli: Cli, name: string, stats: Omit<QueueStats, "queue" | "isPaused">, isPaused: boolean) {
  const { pending, running, retrying, deadLetters, success, cancelled, skipped } = stats;
  return [
    name,
    ...[pending, running, retrying, deadLetters, success, cancelled, skipped],
    stats.throughput.lastMinute,
    formatMs(stats.oldestWaitingMs),
    formatMs(stats.wait.p50Ms),
    formatMs(stats.run.p95Ms),
    { text: isPaused ? "paused" : "", paint: (text: string) => cli.paint("yellow", text) },
  ];
}

function formatMs(ms: number | null): string {
  if (ms === null) return "-";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}
