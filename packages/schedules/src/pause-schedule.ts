import { nextRun } from "./cadence/index.ts";
import { readClock } from "./change-schedules.ts";
import { findSchedule } from "./read-schedules.ts";
import { runScript } from "./schedules-in-redis.ts";

export type PauseOutcome = "paused" | "already_paused" | "unknown";
export type ResumeOutcome = "resumed" | "not_paused" | "unknown";

/**
 * Lets a schedule add no further job until it is resumed, through restarts and registrations as well; by hand it still can be run. A tick that
 * has begun may still add its job.
 *
 * @throws QueueUnavailableError when Redis does not answer; asking again is safe
 */
export async function pauseSchedule(id: string): Promise<PauseOutcome> {
  // The script's own form.
  return (await runScript(pauseScript, id)) as PauseOutcome;
}

// Without a due time it is left alone by whatever deals with due times.
const pauseScript = `
local key = byId .. ":" .. ARGV[1]
if redis.call("EXISTS", key) == 0 then return "unknown" end
if redis.call("HSETNX", key, "paused", text(now())) == 0 then return "already_paused" end
arm(ARGV[1], "")
return "paused"`;

/**
 * Lets a schedule go on at its first due time from now on. Those that passed meanwhile are left out and not counted as missed, since somebody
 * wanted it so.
 *
 * @throws QueueUnavailableError when Redis does not answer; asking again is safe
 */
export async function resumeSchedule(id: string): Promise<ResumeOutcome> {
  for (;;) {
    const stored = await findSchedule(id);
    if (!stored) return "unknown";
    if (stored.pausedAtMs === null) return "not_paused";
    const { schedule, anchorMs } = stored;
    const dueMs = nextRun(schedule.cadence, anchorMs, await readClock());
    const cadence = JSON.stringify(schedule.cadence);
    // The script's own form. Nothing: its cadence was changed a moment ago, and this due time is none of its own.
    const outcome = (await runScript(resumeScript, id, cadence, String(dueMs ?? ""))) as ResumeOutcome | null;
    if (outcome) return outcome;
  }
}

const resumeScript = `
local key = byId .. ":" .. ARGV[1]
local cadence = redis.call("HGET", key, "cadence")
if not cadence then return "unknown" end
if cadence ~= ARGV[2] then return false end
if redis.call("HDEL", key, "paused") == 0 then return "not_paused" end
arm(ARGV[1], ARGV[3])
return "resumed"`;
