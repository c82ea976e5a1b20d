import { askQueue, contracts, defaultJobOptions, queueNames, runScript } from "@millrace/worker-config";
import { z } from "zod";
import { readRedisTime } from "./read-redis-time.ts";

const page = z.tuple([z.coerce.number(), z.int(), z.int()]);

// The record, and what BullMQ keeps beside it. An age is each job's own: one that was to be kept for longer stays. What
// is no record has none, and no worker comes to it any more.
const script = {
  name: "millraceSweepCompleted",
  numberOfKeys: 1,
  lua: `
local completed, base, now, from, before = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local rows = redis.call("ZRANGEBYSCORE", completed, "-inf", before, "WITHSCORES", "LIMIT", from, 200)
local removed = 0
for i = 1, #rows, 2 do
  local id, finishedAt = rows[i], tonumber(rows[i + 1])
  local job = base .. id
  local stored = redis.pcall("HGET", job, "opts")
  local isRecord = type(stored) ~= "table"
  local isRead, opts = pcall(cjson.decode, isRecord and stored or "")
  local keep = isRead and type(opts) == "table" and opts.removeOnComplete
  local age = type(keep) == "table" and keep.age
  if not isRecord or redis.call("EXISTS", job) == 0 or (type(age) == "number" and finishedAt + age * 1000 <= now) then
    redis.call("ZREM", completed, id)
    for _, side in ipairs({"", ":logs", ":dependencies", ":processed", ":failed", ":unsuccessful"}) do
      redis.call("DEL", job .. side)
    end
    removed = removed + 1
  end
end
return { from + #rows / 2 - removed, removed, #rows / 2 }`,
};

/**
 * Removes completed jobs whose `removeOnComplete.age` is over. BullMQ does so only when another job of the queue ends: an idle queue keeps its
 * last day for ever. Jobs whose own age is shorter than the default's, a day, go after that day.
 *
 * @param signal ends the sweep between two hundreds
 * @returns how many were removed
 * @throws QueueUnavailableError when Redis does not answer; what has been removed stays so
 */
export async function sweepCompleted(signal?: AbortSignal): Promise<number> {
  const now = await readRedisTime();
  const before = now - defaultJobOptions.removeOnComplete.age * 1_000;
  let total = 0;
  for (const queue of queueNames.options) {
    for (let from = 0, size = 1; size > 0 && !signal?.aborted; ) {
      const reply = await askQueue(contracts[queue], (opened) =>
        runScript(opened, script, [opened.toKey("completed")], [opened.toKey(""), now, from, before]),
      );
      const [next, removed, seen] = page.parse(reply);
      total += removed;
      from = next;
      size = seen;
    }
  }
  return total;
}
