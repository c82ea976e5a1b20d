import { askQueue, contracts, runScript } from "@millrace/worker-config";
import { z } from "zod";
import type { LetterPosition } from "./letter-position.ts";
import { statisticsKey } from "./read-queue-counts.ts";

const outcomes = z.enum(["removed", "left", "awaited"]);

/**
 * - `removed`: it is gone, with everything that BullMQ kept for it.
 * - `left`: it was replayed or removed meanwhile, or has failed anew since it was read.
 * - `awaited`: its parent in a flow still waits for it, and would run without its result. Replay it, or cancel the parent, first.
 */
export type Removal = z.infer<typeof outcomes>;

// BullMQ's own removal takes a job from wherever it lies: one that was replayed a moment before would be lost. This one takes it from the
// failed set alone, and then what BullMQ's `removeJob` takes: the record, its side keys and the dedupe key that it holds.
const script = {
  name: "millraceRemoveDeadLetter",
  numberOfKeys: 3,
  lua: `
local job, failed, id = KEYS[1], KEYS[2], ARGV[1]
local failedAt = redis.call("ZSCORE", failed, id)
if not failedAt or tonumber(failedAt) ~= tonumber(ARGV[2]) then return "left" end
local isHash = redis.call("TYPE", job).ok == "hash"
local parent, dedupe
if isHash then
  local links = redis.call("HMGET", job, "parentKey", "deid")
  parent, dedupe = links[1], links[2]
end
if parent and redis.pcall("SISMEMBER", parent .. ":dependencies", job) == 1
  and redis.pcall("HEXISTS", parent, "finishedOn") == 0 and redis.call("EXISTS", parent) == 1 then return "awaited" end
if ARGV[4] == "try" then return "removed" end
redis.call("ZREM", failed, id)
redis.call("ZREM", KEYS[3], id)
if dedupe and redis.call("GET", ARGV[3] .. "de:" .. dedupe) == id then
  redis.call("DEL", ARGV[3] .. "de:" .. dedupe, ARGV[3] .. "dn:" .. dedupe)
end
for _, side in ipairs({"", ":logs", ":dependencies", ":processed", ":failed", ":unsuccessful"}) do
  redis.call("DEL", job .. side)
end
return "removed"`,
};

/**
 * Removes one failed job for good, if it still lies where it was read. Its children stay.
 *
 * @param isTry asks the same questions and removes nothing
 */
export async function removeLetter({ queue, jobId, failedAtMs }: LetterPosition, isTry: boolean): Promise<Removal> {
  return askQueue(contracts[queue], async (opened) => {
    const keys = [opened.toKey(jobId), opened.toKey("failed"), `${statisticsKey(queue)}:cancelled`];
    const args = [jobId, failedAtMs, opened.toKey(""), isTry ? "try" : "remove"];
    return outcomes.parse(await runScript(opened, script, keys, args));
  });
}
