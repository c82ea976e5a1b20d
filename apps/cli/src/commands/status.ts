import type { Command } from "@commander-js/extra-typings";
import { type JobDetails, readJob, readJobData } from "@millrace/job-admin";
import { parseQueue } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { examples } from "../examples.ts";
import { paintStatus } from "../paint-status.ts";
import { renderFields } from "../table.ts";
import { requireFound } from "../unknown-job.ts";

/** `status`: one job, as its record says. */
export function statusCommand(program: Command, cli: Cli): void {
  program
    .command("status")
    .description("Shows one job: state, attempts, times, result, error, logs, its place in a flow.")
    .argument("<queue>", "the queue's name", parseQueue)
    .argument("<jobId>", "the job's id")
    .option("--show-data", "show its payload as well")
    .addHelpText(
      "after",
      examples("millrace status email welcome-ada", "millrace status email welcome-ada --json | jq -r .status"),
    )
    .action(async (queue, jobId, { showData }) => {
      const job = requireFound(await readJob(queue, jobId), queue, jobId);
      const data = showData ? { data: (await readJobData(queue, jobId)) ?? null } : {};
      cli.show({ ...job, ...data }, () => render(cli, job, data));
    });
}

function render(cli: Cli, job: JobDetails, data: { readonly data?: unknown }): string {
  const { error, parent, children, logs, attempts, attemptsAllowed } = job;
  const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));
  const fields = renderFields([
    ["job", `${job.queue} ${job.jobId}`],
    ["action", job.action],
    ["status", paintStatus(cli, job.status)],
    ["attempts", `${attempts} of ${attemptsAllowed}`],
    ["progress", typeof job.progress === "number" ? `${job.progress} %` : json(job.progress)],
    ["created", job.createdAt],
    ["due", job.dueAt],
    ["started", job.startedAt],
    ["finished", job.finishedAt],
    ["waited", job.waitMs === null ? null : `${job.waitMs} ms`],
    ["ran", job.runMs === null ? null : `${job.runMs} ms`],
    ["priority", job.priority],
    ["replays", job.replays || null],
    ["error", error && `${error.code}: ${error.message}`],
    ["see", error?.code === "quarantined" ? `millrace quarantine show ${job.queue} ${job.jobId}` : null],
    ["result", json(job.result)],
    ["data", json(data.data)],
    ["parent", parent && `${parent.queue} ${parent.jobId}`],
    ["children", children && `${children.open} open, ${children.succeeded} succeeded, ${children.failed} failed`],
  ]);
  if (logs.lines.length === 0) return fields;
  const shown = logs.lines.slice(-10);
  return `${fields}\nlogs (the last ${shown.length} of ${logs.total})\n${renderFields(shown.map((line) => ["", line]))}`;
}
