import { nextRun } from "./cadence/index.ts";
import type { Schedule } from "./schedule.ts";
import { ownerOf, runScript } from "./schedules-in-redis.ts";

/** Redis' clock, in milliseconds since 1970: the one that all processes share. */
export async function readClock(): Promise<number> {
  return Number(await runScript("return text(now())"));
}

/** A schedule as a script takes it: id, owner, definition, cadence, anchor, first due time. */
export function toArguments(schedule: Schedule, now: number): string[] {
  const firstDueMs = nextRun(schedule.cadence, now, now);
  if (firstDueMs === undefined)
    throw new RangeError(`Schedule ${schedule.id}: expected a cadence that is due some day.`);
  return [
    schedule.id,
    ownerOf(schedule.workspaceId),
    JSON.stringify(schedule),
    JSON.stringify(schedule.cadence),
    String(now),
    String(firstDueMs),
  ];
}

/**
 * Adds a schedule of a workspace.
 *
 * @param maxPerWorkspace how many one workspace may have
 * @returns whether there was room for it
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function addSchedule(schedule: Schedule, maxPerWorkspace: number): Promise<boolean> {
  const added = await runScript(addScript, maxPerWorkspace, ...toArguments(schedule, await readClock()));
  return added === 1;
}

const addScript = `
local owner = ARGV[3]
if redis.call("ZCARD", of .. ":" .. owner) >= tonumber(ARGV[1]) then return 0 end
put(ARGV[2], owner, ARGV[4], ARGV[5], ARGV[6], ARGV[7])
return 1`;

/**
 * Puts a schedule in the place of the one with its id, of the same workspace. Where the cadence is the same its next due time stays; one that
 * is paused stays so, and what became of it so far is kept.
 *
 * @returns whether there was one
 * @throws QueueUnavailableError when Redis does not answer; asking again is safe
 */
export async function replaceSchedule(schedule: Schedule): Promise<boolean> {
  return (await runScript(replaceScript, ...toArguments(schedule, await readClock()))) === 1;
}

const replaceScript = `
if redis.call("HGET", byId .. ":" .. ARGV[1], "owner") ~= ARGV[2] then return 0 end
put(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return 1`;

/**
 * Removes a schedule. Jobs that it added stay.
 *
 * @returns whether there was one
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function removeSchedule(id: string): Promise<boolean> {
  return (await runScript("return remove(ARGV[1])", id)) === 1;
}

/**
 * Removes every schedule of a workspace.
 *
 * @returns how many there were
 * @throws QueueUnavailableError when Redis does not answer; asking again takes up what is left
 */
export async function removeSchedulesOf(workspaceId: string): Promise<number> {
  let total = 0;
  for (;;) {
    const removed = Number(await runScript(removeAllScript, ownerOf(workspaceId)));
    total += removed;
    if (removed === 0) return total;
  }
}

const removeAllScript = `
local ids = redis.call("ZRANGE", of .. ":" .. ARGV[1], 0, 999)
for _, id in ipairs(ids) do remove(id) end
return #ids`;
