import { ownKey } from "@millrace/redis";
import { type WorkerRecord, workerRecordTimes } from "@millrace/worker-config/contracts";
import type { Redis } from "ioredis";

// A record under its own key, which ends by itself, and a set of ids by the time at which they end.
const announceScript = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("SET", KEYS[2], ARGV[2], "PX", ARGV[3])
redis.call("ZADD", KEYS[1], now + ARGV[3], ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)`;

/**
 * Says that a worker is there.
 *
 * @param expiresMs for how long that holds. Defaults to 15 seconds
 */
export async function announceWorker(
  redis: Redis,
  prefix: string,
  record: WorkerRecord,
  expiresMs: number = workerRecordTimes.expiresMs,
): Promise<void> {
  const keys = [ownKey(prefix, "workers"), ownKey(prefix, "workers", record.id)];
  await redis.eval(announceScript, keys.length, ...keys, record.id, JSON.stringify(record), expiresMs);
}

/** Says that a worker has left, so that nobody waits for its record to end. */
export async function dismissWorker(redis: Redis, prefix: string, id: string): Promise<void> {
  await redis
    .multi()
    .zrem(ownKey(prefix, "workers"), id)
    .del(ownKey(prefix, "workers", id))
    .exec();
}
