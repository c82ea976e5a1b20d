import { findJob, jobStatuses } from "@millrace/job-admin";
import { missedPolicies, overlapPolicies, type StoredSchedule } from "@millrace/schedules";
import { previewRuns, toDueTime } from "@millrace/schedules/cadence";
import { queueNames } from "@millrace/worker-config";
import { z } from "zod";

export const dueTimeSchema = z.object({
  utc: z.iso.datetime(),
  local: z.string().describe("By the clocks of the schedule's zone, with their offset."),
});

/** A schedule as a list shows it. */
export const scheduleSchema = z.object({
  id: z.string(),
  owner: z.enum(["code", "workspace"]),
  workspaceId: z.string().nullable(),
  cron: z.string().optional(),
  timeZone: z.string().optional(),
  everyMs: z.number().optional(),
  queue: queueNames,
  action: z.string(),
  overlap: overlapPolicies,
  missed: missedPolicies,
  nextRun: dueTimeSchema.nullable().describe("Null while it is paused, or where no date follows."),
  pausedAt: z.iso.datetime().nullable().describe("Null where it is not paused."),
  lastRun: z
    .object({
      jobId: z.string(),
      due: dueTimeSchema.nullable().describe("Null where somebody ran it by hand."),
      at: z.iso.datetime(),
    })
    .nullable()
    .describe("The job that it added last. GET /jobs/:queue/:jobId says what became of it."),
  lastSkip: z
    .object({ code: z.string(), due: dueTimeSchema, at: z.iso.datetime() })
    .nullable()
    .describe(
      "The last due time that got no job, and why: overlap, missed, owner_blocked, workspace_gone, invalid_data …",
    ),
  counts: z.object({ runs: z.int(), missed: z.int(), skipped: z.int() }),
});

/** One schedule alone shows more of what comes, and what became of its last job. */
export const wholeScheduleSchema = scheduleSchema.extend({
  nextRuns: z.array(dueTimeSchema).describe("The next five."),
  lastJobStatus: jobStatuses.nullable().describe("Null where there is no last job, or it is kept no longer."),
});

/** Its payload is left out, as that of a job is. */
export function viewSchedule({
  schedule,
  dueMs,
  pausedAtMs,
  lastRun,
  lastSkip,
  counts,
}: StoredSchedule): z.output<typeof scheduleSchema> {
  const { id, workspaceId, cadence, queue, action, overlap, missed } = schedule;
  const dueTime = (ms: number) => toDueTime(cadence, ms);
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    id,
    owner: workspaceId === null ? "code" : "workspace",
    workspaceId,
    ...cadence,
    queue,
    action,
    overlap,
    missed,
    nextRun: dueMs === null ? null : dueTime(dueMs),
    pausedAt: pausedAtMs === null ? null : iso(pausedAtMs),
    lastRun: lastRun && {
      jobId: lastRun.jobId,
      due: lastRun.dueMs === null ? null : dueTime(lastRun.dueMs),
      at: iso(lastRun.atMs),
    },
    lastSkip: lastSkip && { code: lastSkip.code, due: dueTime(lastSkip.dueMs), at: iso(lastSkip.atMs) },
    counts,
  };
}

/** @throws QueueUnavailableError when Redis does not say what became of the last job */
export async function viewWholeSchedule(stored: StoredSchedule): Promise<z.output<typeof wholeScheduleSchema>> {
  const { schedule, anchorMs, dueMs, lastRun } = stored;
  const nextRuns = dueMs === null ? [] : previewRuns(schedule.cadence, anchorMs, dueMs, 5);
  const lastJob = lastRun && (await findJob(schedule.queue, lastRun.jobId));
  return { ...viewSchedule(stored), nextRuns, lastJobStatus: lastJob?.status ?? null };
}
