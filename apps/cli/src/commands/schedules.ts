import type { Command } from "@commander-js/extra-typings";
import {
  findSchedule,
  listSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  runScheduleNow,
  type StoredSchedule,
} from "@millrace/schedules";
import { parsePageSize } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { confirm } from "../confirm.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { operate } from "../operate.ts";
import { renderPage } from "../page.ts";

/** `schedules list | run | pause | resume | remove`. */
export function scheduleCommands(program: Command, cli: Cli): void {
  const group = program
    .command("schedules")
    .description("What adds jobs by the clock: list, run, pause, resume, remove.");
  group
    .command("list")
    .description("Lists schedules by their ids, without their payloads.")
    .option("--workspace <id>", "only this workspace's")
    .option("--limit <number>", "schedules at most, 200 or fewer", parsePageSize, 50)
    .option("--cursor <cursor>", "where an earlier page ended")
    .addHelpText("after", examples("millrace schedules list", "millrace schedules list --workspace ws-7 --json"))
    .action(async ({ workspace, limit, cursor }) => {
      const page = await listSchedules({ workspaceId: workspace, limit, cursor });
      cli.show({ schedules: page.schedules.map(view), cursor: page.cursor }, () => {
        const head = ["id", "owner", "when", "queue", "action", "next run", "runs", "missed", "skipped"];
        const rows = page.schedules
          .map(view)
          .map(({ id, workspaceId, when, queue, action, isPaused, nextRun, counts }) => [
            ...[id, workspaceId ?? "code", when, queue, action, isPaused ? "paused" : (nextRun ?? "-")],
            ...[counts.runs, counts.missed, counts.skipped],
          ]);
        return renderPage(cli, { head, rows, cursor: page.cursor, empty: "no schedules" });
      });
    });
  group
    .command("run")
    .description("Adds a schedule's job now. Its due times stay as they are.")
    .argument("<id>", "the schedule's id")
    .addHelpText("after", examples("millrace schedules run sweep-queues"))
    .action(async (id) => {
      await operate(cli, { action: "schedule.run", target: { id } }, async () => {
        const run = await runScheduleNow(id);
        if (run.outcome === "unknown") throw unknownSchedule(id);
        const { outcome, jobId, schedule } = run;
        return {
          exitCode: outcome === "added" ? exitCodes.done : exitCodes.failed,
          document: { id, outcome, queue: schedule.queue, jobId },
          text:
            outcome === "added"
              ? `${id}: added job ${schedule.queue}/${jobId}`
              : `${id}: its last job, ${schedule.queue}/${jobId}, has not ended, and its overlap is skip`,
          facts: { queue: schedule.queue, jobId },
        };
      });
    });
  group
    .command("pause")
    .description("Lets a schedule add nothing until it is resumed. What falls due meanwhile is left out.")
    .argument("<id>", "the schedule's id")
    .addHelpText("after", examples("millrace schedules pause sweep-queues"))
    .action((id) => change(cli, "schedule.pause", id, pauseSchedule));
  group
    .command("resume")
    .description("Lets a paused schedule go on, from its next due time.")
    .argument("<id>", "the schedule's id")
    .addHelpText("after", examples("millrace schedules resume sweep-queues"))
    .action((id) => change(cli, "schedule.resume", id, resumeSchedule));
  group
    .command("remove")
    .description("Removes a workspace's schedule. Jobs that it added stay.")
    .argument("<id>", "the schedule's id")
    .option("--yes", "do not ask")
    .addHelpText("after", examples("millrace schedules remove 0b9c6f5e-report --yes"))
    .action(async (id, { yes }) => {
      await confirm(cli, `Remove schedule ${id} for good?`, yes);
      await operate(cli, { action: "schedule.remove", target: { id } }, async () => {
        const stored = await findSchedule(id);
        if (!stored) throw unknownSchedule(id);
        if (stored.schedule.workspaceId === null) {
          const message = "The code owns this schedule: it is removed by removing it from the code.";
          throw new CliError(exitCodes.failed, "owned_by_code", message);
        }
        if (!(await removeSchedule(id))) throw unknownSchedule(id);
        return { document: { id, outcome: "removed" }, text: `${id}: removed` };
      });
    });
}

async function change(
  cli: Cli,
  action: "schedule.pause" | "schedule.resume",
  id: string,
  apply: typeof pauseSchedule | typeof resumeSchedule,
): Promise<void> {
  await operate(cli, { action, target: { id } }, async () => {
    const outcome = await apply(id);
    if (outcome === "unknown") throw unknownSchedule(id);
    const isChanged = outcome === "paused" || outcome === "resumed";
    return {
      exitCode: isChanged ? exitCodes.done : exitCodes.failed,
      document: { id, outcome },
      text: `${id}: ${outcome.replace("_", " ")}`,
    };
  });
}

/** Its payload is left out, as that of a job is. */
function view({ schedule, dueMs, pausedAtMs, lastRun, counts }: StoredSchedule) {
  const { id, workspaceId, cadence, queue, action } = schedule;
  return {
    id,
    workspaceId,
    when: "cron" in cadence ? `${cadence.cron} ${cadence.timeZone}` : `every ${cadence.everyMs} ms`,
    queue,
    action,
    isPaused: pausedAtMs !== null,
    nextRun: dueMs === null ? null : new Date(dueMs).toISOString(),
    lastRun: lastRun && { jobId: lastRun.jobId, at: new Date(lastRun.atMs).toISOString() },
    counts,
  };
}

function unknownSchedule(id: string): CliError {
  return new CliError(
    exitCodes.notFound,
    "unknown_schedule",
    `There is no schedule ${id}. It never was, or it was removed.`,
  );
}
