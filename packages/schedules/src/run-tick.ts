import type { Logger } from "@millrace/logger";
import { InvalidJobError } from "@millrace/worker-config";
import { type WorkspaceWatch, withBlockedOwnerGuard } from "@millrace/workspaces";
import { addRun, hasEnded } from "./add-run.ts";
import { decideTick } from "./decide-tick.ts";
import type { TickResult } from "./due-schedules.ts";
import type { LastRun, StoredSchedule } from "./stored-schedule.ts";

/** What a tick uses besides the queues. */
export interface TickTools {
  readonly log: Logger;
  /** Who is blocked; without it nobody is. */
  readonly workspaces: Pick<WorkspaceWatch, "standingOf"> | undefined;
}

// A rolling deploy, and a worker that is rolled out after its producers, take less.
const newerWithinMs = 24 * 60 * 60_000;

/**
 * Deals with the due times of a schedule up to now: adds a job for each one that gets a run, under an id made of schedule and due time, so
 * that a tick that is repeated adds nothing twice. Whatever gets none is said in the log, with a code.
 *
 * @throws InvalidJobError `unknown_action` for a day after the due time: a newer process may know the action; give the tick back
 * @throws QueueUnavailableError, WorkspaceLookupError when Redis does not answer; repeat the tick
 */
export async function runTick(
  stored: StoredSchedule & { readonly dueMs: number },
  now: number,
  { log, workspaces }: TickTools,
): Promise<TickResult> {
  const { schedule, lastRun } = stored;
  const tick = decideTick(schedule, stored, now);
  const tickLog = log.child({ scheduleId: schedule.id, queue: schedule.queue, action: schedule.action });

  let added: LastRun | undefined;
  const addAll = async (): Promise<string | undefined> => {
    if (tick.runs.length === 0) return "missed";
    if (schedule.overlap === "skip" && lastRun && !(await hasEnded(schedule, lastRun))) return "overlap";
    for (const dueMs of tick.runs) added = { jobId: await addRun(schedule, dueMs, dueMs), dueMs, atMs: now };
    return undefined;
  };
  const guarded = await withBlockedOwnerGuard(
    workspaces ?? { standingOf: async () => ({ standing: "active" }) },
    schedule.workspaceId ?? undefined,
    addAll,
  ).catch((error: unknown) => {
    if (!(error instanceof InvalidJobError)) throw error;
    if (error.code === "unknown_action" && now - stored.dueMs <= newerWithinMs) throw error;
    tickLog.error({ code: error.code, err: error }, "the schedule's job is not valid, and was not added");
    return { skipped: true, code: error.code } as const;
  });
  // Of a tick that is given back, nothing is said yet.
  if (tick.missed > 0) tickLog.warn({ code: "runs_missed", missed: tick.missed }, "due times were missed");
  const skipCode = guarded.skipped ? guarded.code : guarded.value;
  const skipped = skipCode === undefined ? 0 : tick.runs.length;
  if (skipped > 0) tickLog.info({ code: skipCode, skipped }, "a scheduled run was skipped");
  return {
    nextDueMs: tick.nextDueMs,
    lastRun: added,
    lastSkip:
      skipCode === undefined ? undefined : { code: skipCode, dueMs: tick.runs.at(-1) ?? stored.dueMs, atMs: now },
    runs: tick.runs.length - skipped,
    late: skipped > 0 ? 0 : tick.late,
    missed: tick.missed,
    skipped,
  };
}
