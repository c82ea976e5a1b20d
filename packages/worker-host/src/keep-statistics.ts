import { ownKey } from "@millrace/redis";
import { hourKeptSeconds, type QueueName } from "@millrace/worker-config/contracts";
import type { Redis } from "ioredis";
import type { CountedOutcomes } from "./count-outcomes.ts";

// Redis' clock, so that all machines mean the same minute. A mark is set only where the job is what the mark says: another process may have
// had it since, or its end was not recorded.
const script = `
local batch, jobs = cjson.decode(ARGV[1]), ARGV[2]
local base = KEYS[1] .. ":"
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("HSETNX", KEYS[1], "since", string.format("%.0f", now))
for outcome, count in pairs(batch.outcomes) do redis.call("HINCRBY", KEYS[1], outcome, count) end
local minute = math.floor(now / 60000)
local hour = base .. string.format("%.0f", math.floor(minute / 60))
if batch.ended > 0 then redis.call("HINCRBY", hour, "m" .. string.format("%.0f", minute % 60), batch.ended) end
for field, count in pairs(batch.times) do redis.call("HINCRBY", hour, field, string.format("%.0f", count)) end
redis.call("EXPIRE", hour, ARGV[3])
for _, id in ipairs(batch.retried) do redis.call("ZREM", base .. "retrying", id) end
for _, id in ipairs(batch.retrying) do
  local job = jobs .. id
  if redis.pcall("HEXISTS", job, "name") == 1 and redis.call("HEXISTS", job, "finishedOn") == 0 then
    redis.call("ZADD", base .. "retrying", now, id)
  end
end
for mark, set in pairs({ skipped = KEYS[2], cancelled = KEYS[3] }) do
  for _, id in ipairs(batch[mark]) do
    local endedAt = redis.call("ZSCORE", set, id)
    if endedAt then redis.call("ZADD", base .. mark, endedAt, id) end
  end
end`;

/** Adds what a process has counted of a queue's jobs to what Redis keeps of them, in one command. */
export async function keepStatistics(
  redis: Redis,
  prefix: string,
  queue: QueueName,
  counted: CountedOutcomes,
): Promise<void> {
  const jobs = `${prefix}:${queue}:`;
  const keys = [ownKey(prefix, "stats", queue), `${jobs}completed`, `${jobs}failed`];
  await redis.eval(script, keys.length, ...keys, JSON.stringify(counted), jobs, hourKeptSeconds);
}
