import { askQueue, contracts, enqueueUnchecked, makeJobId } from "@millrace/worker-config";
import type { Schedule } from "./schedule.ts";
import type { LastRun } from "./stored-schedule.ts";

/**
 * Adds the job of one run. Its `meta` says which schedule it is of, and for when.
 *
 * @param occasion tells the run from the schedule's others: with the same occasion nothing more is added
 * @param dueMs none where somebody runs it by hand
 * @returns the job's id
 * @throws InvalidJobError where the action, or its data, is not valid any more
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function addRun(schedule: Schedule, occasion: string | number, dueMs: number | null): Promise<string> {
  const { id, queue, action, data } = schedule;
  const meta = { scheduleId: id, ...(dueMs !== null && { dueAt: new Date(dueMs).toISOString() }) };
  const { jobId } = await enqueueUnchecked(contracts[queue], action, data, {
    jobId: makeJobId("schedule", id, occasion),
    meta,
  });
  return jobId;
}

/**
 * Whether the job of a schedule's last run has ended, or is gone.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function hasEnded(
  { queue }: Pick<Schedule, "queue">,
  { jobId }: Pick<LastRun, "jobId">,
): Promise<boolean> {
  const state = await askQueue(contracts[queue], (opened) => opened.getJobState(jobId));
  return state === "completed" || state === "failed" || state === "unknown";
}
