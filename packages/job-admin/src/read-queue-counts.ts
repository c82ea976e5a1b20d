import { ownKey } from "@millrace/redis";
import { askQueue, contracts, type QueueName, readQueueEnv, runScript } from "@millrace/worker-config";
import { bucketCount, replayFields } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { quarantineKey } from "./quarantine-entry.ts";

/** What Redis holds of a queue, before it is put into words. */
export interface QueueCounts {
  readonly nowMs: number;
  /** In BullMQ's sets: those that wait for a worker, priority or not, and so on. */
  readonly waiting: number;
  readonly delayed: number;
  readonly waitingChildren: number;
  readonly active: number;
  readonly completed: number;
  readonly failed: number;
  readonly quarantined: number;
  /** Of the completed. */
  readonly skipped: number;
  /** Of the failed. */
  readonly cancelled: number;
  /** Of those that wait. */
  readonly retrying: number;
  readonly isPaused: boolean;
  readonly oldestSinceMs: number | null;
  readonly sinceMs: number | null;
  /** Starts by their outcome, since then. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Jobs that ended, by the minute since 1970. */
  readonly minutes: ReadonlyMap<number, number>;
  readonly wait: Histogram;
  readonly run: Histogram;
}

export interface Histogram {
  readonly sumMs: number;
  /** How many fell into each bucket. */
  readonly counts: readonly number[];
}

// No command looks at all jobs of a state: cardinalities, the head of each list, and what runs, which the workers' concurrency bounds.
//
// A mark whose job is older than all that is left of its set went with it: BullMQ removes the oldest first. Other marks that outlived their
// jobs are removed by the sweep, which also sets those that ended jobs lack. A job that was started before does not say since when it waits; the next one in its list came after it.
const script = {
  name: "millraceReadQueueCounts",
  numberOfKeys: 11,
  lua: `
local wait, paused, prioritized, delayed, active, children = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local completed, failed, meta, quarantine, stats, jobs = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], ARGV[1]
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format("%.0f", number) end

for mark, set in pairs({ skipped = completed, cancelled = failed }) do
  local oldest = redis.call("ZRANGE", set, 0, 0, "WITHSCORES")[2]
  redis.call("ZREMRANGEBYSCORE", stats .. ":" .. mark, "-inf", oldest and "(" .. oldest or "+inf")
end

local retrying = stats .. ":retrying"
for _, id in ipairs(redis.call("ZRANGE", retrying, 0, 19)) do
  local isHeld = redis.pcall("HEXISTS", jobs .. id, "name") == 1 and redis.call("HEXISTS", jobs .. id, "finishedOn") == 0
  if not isHeld then redis.call("ZREM", retrying, id) end
end
local again = 0
for _, id in ipairs(redis.call("LRANGE", active, 0, 999)) do
  if redis.call("ZSCORE", retrying, id) then again = again + 1 end
end

local oldest
local function look(id)
  local fields = redis.pcall("HMGET", jobs .. id, "timestamp", "opts", "ats", "${replayFields.at}")
  if fields.err or not tonumber(fields[1] or "") or (tonumber(fields[3] or "") or 0) > 0 then return false end
  local isRead, opts = pcall(cjson.decode, fields[2] or "")
  local delay = isRead and type(opts) == "table" and tonumber(opts.delay) or 0
  local since = math.max(tonumber(fields[1]) + delay, tonumber(fields[4] or "") or 0)
  if not oldest or since < oldest then oldest = since end
  return true
end
for _, list in ipairs({ wait, paused }) do
  local head = redis.call("LRANGE", list, -20, -1)
  for i = #head, 1, -1 do
    if look(head[i]) then break end
  end
end
local from = "-inf"
for _ = 1, 20 do
  local head = redis.call("ZRANGEBYSCORE", prioritized, from, "+inf", "WITHSCORES", "LIMIT", 0, 1)
  if not head[1] then break end
  look(head[1])
  from = text((math.floor(tonumber(head[2]) / 4294967296) + 1) * 4294967296)
end
local due = redis.call("ZRANGE", delayed, 0, 0, "WITHSCORES")[2]
due = due and math.floor(tonumber(due) / 4096)
if due and due < now and (not oldest or due < oldest) then oldest = due end

local hour = math.floor(now / 3600000)
return {
  text(now), redis.call("LLEN", wait) + redis.call("LLEN", paused) + redis.call("ZCARD", prioritized),
  redis.call("ZCARD", delayed), redis.call("ZCARD", children), redis.call("LLEN", active),
  redis.call("ZCARD", completed), redis.call("ZCARD", failed), redis.call("HLEN", quarantine),
  redis.call("ZCARD", stats .. ":skipped"), redis.call("ZCARD", stats .. ":cancelled"), redis.call("ZCARD", retrying) - again,
  redis.call("HEXISTS", meta, "paused"), oldest and text(oldest) or "",
  redis.call("HGETALL", stats),
  redis.call("HGETALL", stats .. ":" .. text(hour)), redis.call("HGETALL", stats .. ":" .. text(hour - 1))
}`,
};

const count = z.int();
const hash = z.array(z.string());
const replySchema = z.tuple([
  z.coerce.number(),
  ...([count, count, count, count, count, count, count, count, count, count, count] as const),
  z.string(),
  hash,
  hash,
  hash,
]);

/** One command per queue, whatever it holds. */
export async function readQueueCounts(queue: QueueName): Promise<QueueCounts> {
  const reply = await askQueue(contracts[queue], (opened) => {
    const sets = [
      "wait",
      "paused",
      "prioritized",
      "delayed",
      "active",
      "waiting-children",
      "completed",
      "failed",
      "meta",
    ];
    const keys = [...sets.map((set) => opened.toKey(set)), quarantineKey(queue), statisticsKey(queue)];
    return runScript(opened, script, keys, [opened.toKey("")]);
  });
  const [nowMs, waiting, delayed, waitingChildren, active, completed, failed, quarantined, ...rest] =
    replySchema.parse(reply);
  const [skipped, cancelled, retrying, isPaused, oldest, totalHash, hourHash, previousHash] = rest;
  const hour = Math.floor(nowMs / 3_600_000);
  const [total, current, previous] = [toMap(totalHash), toMap(hourHash), toMap(previousHash)];
  const sinceMs = total.get("since") ?? null;
  total.delete("since");
  return {
    ...{ nowMs, waiting, delayed, waitingChildren, active, completed, failed, quarantined, sinceMs },
    skipped: Math.min(skipped, completed),
    cancelled: Math.min(cancelled, failed),
    retrying: Math.max(0, Math.min(retrying, waiting + delayed)),
    isPaused: isPaused === 1,
    oldestSinceMs: oldest === "" ? null : Number(oldest),
    outcomes: total,
    minutes: new Map([...minutesOf(previous, hour - 1), ...minutesOf(current, hour)]),
    wait: histogramOf("wait", current, previous),
    run: histogramOf("run", current, previous),
  };
}

/** The key under which workers keep a queue's statistics. */
export function statisticsKey(queue: QueueName): string {
  return ownKey(readQueueEnv().QUEUE_PREFIX, "stats", queue);
}

function toMap(pairs: readonly string[]): Map<string, number> {
  const map = new Map<string, number>();
  for (let index = 0; index + 1 < pairs.length; index += 2) map.set(pairs[index] ?? "", Number(pairs[index + 1]) || 0);
  return map;
}

function* minutesOf(fields: ReadonlyMap<string, number>, hour: number): Generator<[number, number]> {
  for (const [field, ended] of fields) if (/^m\d+$/.test(field)) yield [hour * 60 + Number(field.slice(1)), ended];
}

function histogramOf(name: string, ...hours: readonly ReadonlyMap<string, number>[]): Histogram {
  const sumOf = (field: string) => hours.reduce((sum, fields) => sum + (fields.get(`${name}:${field}`) ?? 0), 0);
  return {
    sumMs: sumOf("sum"),
    counts: Array.from({ length: bucketCount }, (_, bucket) => sumOf(String(bucket))),
  };
}
