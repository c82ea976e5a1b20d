import type { Redis } from "ioredis";
import { ownKey } from "./key-names.ts";
import { checkName } from "./lease-arguments.ts";

export interface RateLimitOptions {
  /** In role `worker` commands outlast a short outage, in role `producer` they fail at once. */
  readonly redis: Redis;
  /** The QUEUE_PREFIX. */
  readonly prefix: string;
  /** What is spared, such as a host and its port. */
  readonly name: string;
  /** How many may go within `durationMs`, over all processes: so many at once where nobody went before, then evenly. */
  readonly max: number;
  readonly durationMs: number;
}

export interface RateLimit {
  /**
   * Asks for a turn. Who has to wait keeps its turn, and comes again when the time is over: a thousand that wait come once each and not
   * all at every turn. A turn that nobody comes for within an hour is void.
   *
   * @param holder who asks; the same one has one turn at a time
   * @returns 0 to go now, else how many milliseconds to wait
   */
  takeTurn(holder: string): Promise<number>;
}

// On Redis's clock, since those who ask have clocks of their own. `next` is when the turn after the last one given begins; what lies further
// back than a whole window is not saved up. Times are whole microseconds: a double holds them exactly, and its text does not where it has
// an exponent.
const takeTurnScript = `
local function text(number) return string.format("%.0f", number) end
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
local interval, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = tonumber(redis.call("ZSCORE", KEYS[2], ARGV[1]) or "")
if kept and kept <= now then redis.call("ZREM", KEYS[2], ARGV[1]) return 0 end
if kept then return math.ceil((kept - now) / 1000) end
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", text(now - 3600000000))
local next = math.max(tonumber(redis.call("GET", KEYS[1]) or "0"), now)
local turn = next - window + interval
redis.call("SET", KEYS[1], text(next + interval), "PX", text(math.ceil((next + interval - now) / 1000)))
if turn <= now then return 0 end
redis.call("ZADD", KEYS[2], text(turn), ARGV[1])
redis.call("PEXPIRE", KEYS[2], text(math.ceil((turn - now) / 1000) + 3600000))
return math.ceil((turn - now) / 1000)`;

/**
 * Spares something that bears only so much, over all processes that share a Redis and a prefix.
 *
 * @throws RangeError when an argument is unsound
 */
export function createRateLimit({ redis, prefix, name, max, durationMs }: RateLimitOptions): RateLimit {
  checkName("name", name);
  for (const [argument, value] of Object.entries({ max, durationMs })) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new RangeError(`${argument}: expected a whole number of at least 1, got ${String(value)}.`);
  }
  const [next, turns] = [ownKey(prefix, "rate", name, "next"), ownKey(prefix, "rate", name, "turns")];
  const windowUs = durationMs * 1_000;
  const intervalUs = Math.max(1, Math.round(windowUs / max));
  return {
    takeTurn: async (holder) =>
      Number(await redis.eval(takeTurnScript, 2, next, turns, holder, intervalUs, Math.max(windowUs, intervalUs))),
  };
}
