import { randomUUID } from "node:crypto";
import { addRun, hasEnded } from "./add-run.ts";
import { readClock } from "./change-schedules.ts";
import { findSchedule } from "./read-schedules.ts";
import type { Schedule } from "./schedule.ts";
import { runScript } from "./schedules-in-redis.ts";

/** What became of a run by hand. `running`: the last run's job has not ended, and the schedule's overlap is `skip`. */
export type RunNow =
  | { readonly outcome: "added" | "running"; readonly jobId: string; readonly schedule: Schedule }
  | { readonly outcome: "unknown" };

/**
 * Adds a schedule's job now, beside its due times: those stay as they are.
 *
 * @throws InvalidJobError where the action, or its data, is not valid any more
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function runScheduleNow(id: string): Promise<RunNow> {
  const stored = await findSchedule(id);
  if (!stored) return { outcome: "unknown" };
  const { schedule, lastRun } = stored;
  if (schedule.overlap === "skip" && lastRun && !(await hasEnded(schedule, lastRun))) {
    return { outcome: "running", jobId: lastRun.jobId, schedule };
  }
  const jobId = await addRun(schedule, randomUUID(), null);
  await runScript(recordScript, id, JSON.stringify({ jobId, dueMs: null, atMs: await readClock() }));
  return { outcome: "added", jobId, schedule };
}

// One that was removed meanwhile stays so.
const recordScript = `
local key = byId .. ":" .. ARGV[1]
if redis.call("EXISTS", key) == 1 then redis.call("HSET", key, "lastRun", ARGV[2]) end`;
