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
  /** How many may go within `durationMs`, or of what weight together, over all processes: so many at once where nobody went before, then evenly. */
  readonly max: number;
  readonly durationMs: number;
}

export interface RateLimit {
  /**
   * Asks for a turn. Who has to wait keeps its turn, and comes again when the time is over: a thousand that wait come once each and not
   * all at every turn. A turn that nobody comes for within an hour is void.
   *
   * @param holder who asks; the same one has one turn at a time
   * @param weight how much of `max` it takes, a whole number of at least 1. Defaults to 1. More than `max` goes where nobody went before,
   *   and makes the others wait accordingly
   * @returns 0 to go now, else how many milliseconds to wait
   * @throws RangeError when the weight is unsound
   */
  takeTurn(holder: string, weight?: number): Promise<number>;
  /** Gives back a turn that was taken and cannot be used yet: whoever comes for it within an hour goes at once. */
  keepTurn(holder: string): Promise<void>;
  /**
   * Corrects what a turn took, where that is known only afterwards. Turns that were promised stay as they are; the later ones move.
   *
   * @param weight a whole number: above 0 it took more than its weight, below 0 less
   * @throws RangeError when the weight is unsound
   */
  correct(weight: number): Promise<void>;
}

// On Redis's clock, since those who ask have clocks of their own. `next` is when the turn after the last one given begins; what lies further
// back than a whole window is not saved up. Times are whole microseconds: a double holds them exactly, and its text does not where it has
// an exponent.
const clock = `
local function text(number) return string.format("%.0f", number) end
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]`;

const takeTurnScript = `${clock}
local took, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = tonumber(redis.call("ZSCORE", KEYS[2], ARGV[1]) or "")
if kept and kept <= now then redis.call("ZREM", KEYS[2], ARGV[1]) return 0 end
if kept then return math.ceil((kept - now) / 1000) end
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", text(now - 3600000000))
local next = math.max(tonumber(redis.call("GET", KEYS[1]) or "0"), now)
local turn = next - window + math.min(took, window)
redis.call("SET", KEYS[1], text(next + took), "PX", text(math.ceil((next + took - now) / 1000)))
if turn <= now then return 0 end
redis.call("ZADD", KEYS[2], text(turn), ARGV[1])
redis.call("PEXPIRE", KEYS[2], text(math.ceil((turn - now) / 1000) + 3600000))
return math.ceil((turn - now) / 1000)`;

// Turns that lie ahead keep the set alive for longer than this one needs it.
const keepTurnScript = `${clock}
redis.call("ZADD", KEYS[1], text(now), ARGV[1])
redis.call("PEXPIRE", KEYS[1], text(math.max(redis.call("PTTL", KEYS[1]), 3600000)))`;

const correctScript = `${clock}
local next = math.max(tonumber(redis.call("GET", KEYS[1]) or "0"), now) + tonumber(ARGV[1])
if next <= now then redis.call("DEL", KEYS[1]) return end
redis.call("SET", KEYS[1], text(next), "PX", text(math.ceil((next - now) / 1000)))`;

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
  // Of one alone at least a microsecond: more than a million in a second are no rate that this can spare.
  const timeOf = (weight: number) => Math.sign(weight) * Math.max(1, Math.round((windowUs * Math.abs(weight)) / max));
  return {
    takeTurn: async (holder, weight = 1) => {
      checkWeight(weight, 1);
      const took = timeOf(weight);
      return Number(await redis.eval(takeTurnScript, 2, next, turns, holder, took, Math.max(windowUs, timeOf(1))));
    },
    keepTurn: async (holder) => {
      await redis.eval(keepTurnScript, 1, turns, holder);
    },
    correct: async (weight) => {
      checkWeight(weight, Number.MIN_SAFE_INTEGER);
      if (weight !== 0) await redis.eval(correctScript, 1, next, timeOf(weight));
    },
  };
}

function checkWeight(weight: number, least: number): void {
  if (Number.isSafeInteger(weight) && weight >= least) return;
  throw new RangeError(`weight: expected a whole number${least === 1 ? " of at least 1" : ""}, got ${String(weight)}.`);
}
