import { formatJobFailure } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { mailJob } from "./failed-jobs.ts";

// Jobs as BullMQ leaves them: two fifths wait, some are delayed or have a priority, the others have completed or failed.
const script = `
local base, first, count, now, data, failedReason = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
for index = first, first + count - 1 do
  local id, kind, at = "many-" .. index, index % 10, now + index
  local job, time = base .. id, string.format("%.0f", at)
  redis.call("HSET", job, "name", "sendEmail", "data", data, "opts", "{}", "timestamp", time, "delay", 0, "priority", 0, "ats", 0)
  if kind < 4 then redis.call("LPUSH", base .. "wait", id)
  elseif kind == 4 then redis.call("ZADD", base .. "prioritized", 4294967296 * (1 + index % 3) + index, id)
  elseif kind == 5 then redis.call("ZADD", base .. "delayed", (now + 3600000 + index) * 4096, id)
  elseif kind < 9 then
    redis.call("HSET", job, "finishedOn", time, "processedOn", time, "returnvalue", "null", "atm", 1)
    redis.call("ZADD", base .. "completed", time, id)
  else
    redis.call("HSET", job, "finishedOn", time, "processedOn", time, "failedReason", failedReason, "atm", 1)
    redis.call("ZADD", base .. "failed", time, id)
  end
end`;

/** How many jobs are many: 100,000, or 500 on the embedded Redis, which is no place for more: one push of 100,000 ids holds it up for three seconds. */
export async function countMany(queue: Queue): Promise<number> {
  const client = await queue.getBackend().client;
  return String(await client.runCommand("info", ["server"])).includes("os:mocked") ? 500 : 100_000;
}

/**
 * Fills a queue with many jobs, `many-0`, `many-1` …, the last one created just now.
 *
 * @returns how many
 */
export async function putMany(queue: Queue): Promise<number> {
  const client = await queue.getBackend().client;
  const total = await countMany(queue);
  const failure = formatJobFailure({ code: "smtp_550", message: "no such mailbox" });
  const now = Date.now();
  const size = total / 100;
  for (let first = 0; first < total; first += size) {
    await client.runCommand("eval", [
      script,
      0,
      queue.toKey(""),
      first,
      size,
      now - total,
      JSON.stringify(mailJob),
      failure,
    ]);
  }
  return total;
}
