import { askQueue, contracts, type QueueName, runScript } from "@millrace/worker-config";
import { z } from "zod";
import { statisticsKey } from "./read-queue-counts.ts";

const page = z.tuple([z.coerce.number(), z.int(), z.int()]);

// `pcall`, because a key may even hold no hash.
const script = {
  name: "millraceSetMissingMarks",
  numberOfKeys: 2,
  lua: `
local set, marks, jobs, from, mark = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), ARGV[3]
local function isMarked(job)
  if mark == "skipped" then
    local returned = redis.pcall("HGET", job, "returnvalue")
    return type(returned) == "string" and string.sub(returned, 1, 19) == '{"millrace:skipped"'
  end
  local reasons = redis.pcall("HMGET", job, "defa", "failedReason")
  local reason = reasons[1] or reasons[2]
  return type(reason) == "string" and string.sub(reason, 1, 12) == "[cancelled] "
end
local rows = redis.call("ZRANGE", set, from, from + 199, "WITHSCORES")
local added = 0
for i = 1, #rows, 2 do
  if not redis.call("ZSCORE", marks, rows[i]) and isMarked(jobs .. rows[i]) then
    redis.call("ZADD", marks, rows[i + 1], rows[i])
    added = added + 1
  end
end
return { from + #rows / 2, added, #rows / 2 }`,
};

/**
 * Marks what ended as skipped or cancelled and was not marked then: its worker was killed within the second, or Redis refused its statistics,
 * or it ended before there were any. Two hundred at a time, and Redis serves others in between. A job that moves up meanwhile may wait for the
 * next call.
 *
 * @returns how many marks were set
 */
export async function setMissingMarks(queue: QueueName, signal: AbortSignal | undefined): Promise<number> {
  let total = 0;
  for (const [set, mark] of [
    ["completed", "skipped"],
    ["failed", "cancelled"],
  ] as const) {
    for (let from = 0, size = 1; size > 0 && !signal?.aborted; ) {
      const reply = await askQueue(contracts[queue], (opened) => {
        const keys = [opened.toKey(set), `${statisticsKey(queue)}:${mark}`];
        return runScript(opened, script, keys, [opened.toKey(""), from, mark]);
      });
      const [next, added, seen] = page.parse(reply);
      total += added;
      from = next;
      size = seen;
    }
  }
  return total;
}
