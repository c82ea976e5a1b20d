import { runScript } from "./schedules-in-redis.ts";
import { type LastRun, type LastSkip, parseStoredSchedule, type StoredSchedule } from "./stored-schedule.ts";

/**
 * A tick that ends in time is this process's alone; one whose process dies, or never hears that it has it, is taken up after so long. A tick
 * takes milliseconds, and one that takes longer than this adds nothing twice.
 */
const leaseMs = 5_000;

/** What is due now, taken so that no other process deals with it meanwhile. */
export interface TakenSchedules {
  /** Redis' clock. */
  readonly now: number;
  readonly taken: readonly StoredSchedule[];
  /** Those that were taken and cannot be read: damaged, or from a newer version, whose own process takes them up after the lease. */
  readonly unreadable: readonly string[];
  /** When the next one is due, if there is any. */
  readonly nextMs: number | undefined;
}

/**
 * Takes the schedules that are due, at most `limit` of them.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function takeDueSchedules(limit: number): Promise<TakenSchedules> {
  // The script's own form.
  const reply = (await runScript(takeScript, limit, leaseMs)) as [string, [string, string[]][], string | null];
  const [now, rows, next] = reply;
  const taken: StoredSchedule[] = [];
  const unreadable: string[] = [];
  for (const [id, hash] of rows) {
    const stored = parseStoredSchedule(hash);
    if (stored) taken.push(stored);
    else unreadable.push(id);
  }
  return { now: Number(now), taken, unreadable, nextMs: next === null ? undefined : Number(next) };
}

const takeScript = `
local time = now()
local taken = {}
for _, id in ipairs(redis.call("ZRANGEBYSCORE", due, "-inf", text(time), "LIMIT", 0, ARGV[1])) do
  local hash = redis.call("HGETALL", byId .. ":" .. id)
  if #hash == 0 then
    redis.call("ZREM", due, id)
  else
    redis.call("ZADD", due, text(time + ARGV[2]), id)
    table.insert(taken, { id, hash })
  end
end
return { text(time), taken, redis.call("ZRANGE", due, 0, 0, "WITHSCORES")[2] or false }`;

/** What became of the due times that a tick dealt with. */
export interface TickResult {
  readonly nextDueMs: number | undefined;
  readonly lastRun: LastRun | undefined;
  readonly lastSkip: LastSkip | undefined;
  readonly runs: number;
  /** How many of the runs are late by a minute or more. */
  readonly late: number;
  readonly missed: number;
  readonly skipped: number;
}

/**
 * Records a tick and arms the schedule for its next due time. One that was removed or paused meanwhile stays so, one whose cadence was changed
 * keeps its new due time, and where another process has dealt with these due times, that is what counts.
 *
 * @throws QueueUnavailableError when Redis does not answer; the tick then begins anew
 */
export async function settleTick({ schedule, dueMs }: StoredSchedule, result: TickResult): Promise<void> {
  await runScript(
    settleScript,
    schedule.id,
    JSON.stringify(schedule.cadence),
    String(dueMs),
    String(result.nextDueMs ?? ""),
    result.lastRun ? JSON.stringify(result.lastRun) : "",
    result.lastSkip ? JSON.stringify(result.lastSkip) : "",
    result.runs,
    result.missed,
    result.skipped,
  );
}

const settleScript = `
local id = ARGV[1]
local key = byId .. ":" .. id
local armed = redis.call("HMGET", key, "due", "cadence", "paused")
local isSame = armed[2] == ARGV[2] and not armed[3]
if not armed[1] or (isSame and armed[1] ~= ARGV[3]) then return end
if ARGV[5] ~= "" then redis.call("HSET", key, "lastRun", ARGV[5]) end
if ARGV[6] ~= "" then redis.call("HSET", key, "lastSkip", ARGV[6]) end
for i, field in ipairs({ "runs", "missed", "skipped" }) do
  if ARGV[6 + i] ~= "0" then redis.call("HINCRBY", key, field, ARGV[6 + i]) end
end
if isSame then arm(id, ARGV[4]) end`;

/**
 * Gives a tick back that could not be carried out, to be tried again after `retryMs`.
 *
 * @throws QueueUnavailableError when Redis does not answer; it is then tried again after its lease
 */
export async function giveBackTick({ schedule, dueMs }: StoredSchedule, retryMs: number): Promise<void> {
  await runScript(giveBackScript, schedule.id, String(dueMs), retryMs);
}

const giveBackScript = `
if redis.call("HGET", byId .. ":" .. ARGV[1], "due") ~= ARGV[2] then return end
redis.call("ZADD", due, text(now() + ARGV[3]), ARGV[1])`;

/**
 * Arms again whatever lost its place among the due ones, as after a careless hand in Redis.
 *
 * @returns the ids of those
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function rearmSchedules(): Promise<string[]> {
  const rearmed: string[] = [];
  let from = "-";
  for (;;) {
    // The script's own form.
    const [last, ids] = (await runScript(rearmScript, from)) as [string | null, string[]];
    rearmed.push(...ids);
    if (last === null) return rearmed;
    from = `(${last}`;
  }
}

const rearmScript = `
local ids = redis.call("ZRANGEBYLEX", all, ARGV[1], "+", "LIMIT", 0, 500)
local rearmed = {}
for _, id in ipairs(ids) do
  local armed = redis.call("HGET", byId .. ":" .. id, "due")
  if armed and armed ~= "" and not redis.call("ZSCORE", due, id) then
    redis.call("ZADD", due, armed, id)
    table.insert(rearmed, id)
  end
end
return { ids[500] or false, rearmed }`;
