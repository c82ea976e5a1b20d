import type { Command } from "@commander-js/extra-typings";
import { findJob, type JobStatus } from "@millrace/job-admin";
import { createJobEventFeed, hasEnded, type JobNews } from "@millrace/job-events";
import { createRedis, readRedisEnv } from "@millrace/redis";
import { readQueueEnv } from "@millrace/worker-config";
import { parseQueue } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { paintStatus } from "../paint-status.ts";
import { printable, renderLine } from "../table.ts";
import { requireFound, unknownJob } from "../unknown-job.ts";

/** `watch`: follows one job to its end, and ends as it does. */
export function watchCommand(program: Command, cli: Cli): void {
  program
    .command("watch")
    .description(
      "Follows a job to its end: a progress bar on a terminal, else a line per change. The exit code is the job's.",
    )
    .argument("<queue>", "the queue's name", parseQueue)
    .argument("<jobId>", "the job's id")
    .option("--show-data", "show what the job itself says on its way (tokens, logs) as well")
    .addHelpText(
      "after",
      examples("millrace watch heavy report-7 && echo done", "millrace watch heavy report-7 --json"),
    )
    .action(async (queue, jobId, { showData = false }) => {
      // Before the feed, which counts a job that is not there as one that has ended.
      requireFound(await findJob(queue, jobId), queue, jobId);
      const feed = createJobEventFeed({
        // The producers' connection tells of the same outage.
        connect: () => createRedis("events", readRedisEnv().REDIS_URL, () => {}),
        prefix: readQueueEnv().QUEUE_PREFIX,
        findJob,
      });
      try {
        const teller = createTeller(cli);
        for await (const news of feed.follow(queue, jobId, { signal: cli.signal })) {
          if (news.kind === "idle" || (news.kind === "event" && !showData)) continue;
          teller.tell(news);
          if (news.kind !== "end") continue;
          if (news.job === null) throw unknownJob(queue, jobId);
          const hasFailed = news.job.status === "failed" || news.job.status === "cancelled";
          cli.exitCode = hasFailed ? exitCodes.failed : exitCodes.done;
        }
        teller.stop();
      } finally {
        feed.close();
      }
    });
}

type Told = Exclude<JobNews, { readonly kind: "idle" }>;

function createTeller(cli: Cli): { tell(news: Told): void; stop(): void } {
  // A bar is one line that is written again and again, until something stays.
  const hasBar = cli.stdout.isTTY === true && !cli.isJson;
  const clear = () => hasBar && cli.stdout.write("\r\u001b[K");
  const stay = (document: unknown, text: () => string) => {
    clear();
    cli.show(document, text);
  };
  return {
    tell: (news) => {
      switch (news.kind) {
        case "status":
          // A text tells the end once; programs get every kind of news.
          if (!cli.isJson && hasEnded(news.job)) return;
          if (!hasBar) return stay(news, () => describe(cli, news.job));
          clear();
          cli.stdout.write(renderBar(cli, news.job));
          return;
        case "event": {
          const { id, type, json } = news;
          return stay({ kind: "event", id, type, data: JSON.parse(json) }, () => `${type}  ${printable(json)}`);
        }
        case "gap":
          return stay(news, () => `… ${news.missed ?? "some"} events are kept no longer`);
        case "end":
          return stay(news, () => (news.job ? describe(cli, news.job) : "gone"));
      }
    },
    stop: clear,
  };
}

/** The bar of a job that says how far it is, in per cent. */
function percentOf({ progress, status }: JobStatus): number {
  if (status === "success") return 100;
  return typeof progress === "number" ? Math.min(100, Math.max(0, progress)) : 0;
}

function renderBar(cli: Cli, job: JobStatus): string {
  const percent = percentOf(job);
  const width = Math.max(10, Math.min(40, (cli.stdout.columns ?? 80) - 40));
  const full = Math.round((percent / 100) * width);
  const bar = cli.paint("cyan", "█".repeat(full)) + cli.paint("dim", "░".repeat(width - full));
  return `${bar} ${String(Math.round(percent)).padStart(3)} %  ${renderLine([paintStatus(cli, job.status)])}`;
}

function describe(cli: Cli, job: JobStatus): string {
  const { status, progress, attempts, dueAt, error, result } = job;
  return renderLine([
    new Date().toISOString(),
    paintStatus(cli, status),
    typeof progress === "number" && status === "running" ? `${progress} %` : "",
    attempts > 1 || error ? `attempts ${attempts}` : "",
    dueAt === null ? "" : `due ${dueAt}`,
    error ? `${error.code}: ${error.message}` : "",
    status === "success" && result !== null ? JSON.stringify(result) : "",
  ]);
}
