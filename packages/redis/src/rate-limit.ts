import type { Redis } from "ioredis";
import { ownKey } from "./key-names.ts";
import { checkName } from "./lease-arguments.ts";

export interface RateLimitOptions {
  /** As for a semaphore: not one that runs blocking commands. */
  readonly redis: Redis;
  /** The QUEUE_PREFIX. */
  readonly prefix: string;
  /** What is limited. */
  readonly name: string;
  /** How many turns there are per second, over all processes; after a pause as many may come at once. A fraction is less than one per second. */
  readonly perSecond: number;
}

export interface RateLimit {
  /**
   * Takes a turn. Whoever comes too early gets a turn of their own in line and is told when it is: with the same name they are let
   * through then, however many came meanwhile. A turn that nobody takes up within ten minutes is given up.
   *
   * @param visitor the same at each try, such as a job's id
   * @returns 0 to go ahead, else how many milliseconds to wait before asking again
   * @throws what the Redis client throws
   */
  takeTurn(visitor: string): Promise<number>;
}

// KEYS: the turns given out and not yet taken up, by visitor; when the latest turn is. On Redis's clock, since the processes' own disagree.
const takeTurnScript = `
local time = redis.call("TIME")
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local intervalMs, burstMs, patienceMs = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", nowMs - patienceMs)
local own = redis.call("ZSCORE", KEYS[1], ARGV[1])
if own then
  local waitMs = math.ceil(tonumber(own) - nowMs)
  if waitMs > 0 then return waitMs end
  redis.call("ZREM", KEYS[1], ARGV[1])
  return 0
end
local latest = tonumber(redis.call("GET", KEYS[2]) or "0")
local turn = math.max(latest, nowMs - burstMs) + intervalMs
local text = string.format("%.3f", turn)
local waitMs = math.ceil(turn - nowMs)
local lifeMs = math.max(waitMs, 0) + burstMs + patienceMs
redis.call("SET", KEYS[2], text, "PX", lifeMs)
if waitMs <= 0 then return 0 end
redis.call("ZADD", KEYS[1], text, ARGV[1])
redis.call("PEXPIRE", KEYS[1], lifeMs)
return waitMs`;

const burstMs = 1_000;
const patienceMs = 10 * 60_000;

/**
 * Bounds how often something happens, over all processes that share a Redis and a prefix. Visitors get turns in the order in which they
 * first came, so that in a long line each comes back once and none is sent away for ever.
 *
 * @throws RangeError when an argument is unsound
 */
export function createRateLimit({ redis, prefix, name, perSecond }: RateLimitOptions): RateLimit {
  checkName("name", name);
  if (!(Number.isFinite(perSecond) && perSecond > 0)) {
    throw new RangeError(`perSecond: expected a number above 0, got ${String(perSecond)}.`);
  }
  const intervalMs = 1_000 / perSecond;
  const keys = [ownKey(prefix, "rate", name, "turns"), ownKey(prefix, "rate", name, "latest")];
  return {
    takeTurn: async (visitor) =>
      Number(
        await redis.eval(
          takeTurnScript,
          keys.length,
          ...keys,
          visitor,
          intervalMs,
          Math.max(burstMs, intervalMs),
          patienceMs,
        ),
      ),
  };
}
