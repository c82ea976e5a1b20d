import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { acquireLease, type Lease } from "./acquire-lease.ts";
import { holdLease } from "./hold-lease.ts";
import { ownKey } from "./key-names.ts";
import { checkDuration, checkName } from "./lease-arguments.ts";

/** All places are taken. The worker host knows it by its fields and defers the job without using up an attempt. */
export class SemaphoreFullError extends Error {
  override readonly name = "SemaphoreFullError";
  readonly failureKind = "contention";
  readonly code = "semaphore_full";
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The place was lost while `fn` ran: there may have been one more at the resource than it has places. The host tries the job again. */
export class SemaphorePlaceLostError extends Error {
  override readonly name = "SemaphorePlaceLostError";
  readonly failureKind = "transient";
  readonly code = "semaphore_place_lost";
}

export interface SemaphoreOptions {
  /** Not one that runs blocking commands. In role `worker` commands outlast a short outage, in role `producer` they fail at once. */
  readonly redis: Redis;
  /** The QUEUE_PREFIX. */
  readonly prefix: string;
  /** What has the places. It stands in errors and so in logs. */
  readonly name: string;
  /** How many may be in at once, over all processes. During a deploy that changes it, each process keeps to its own number. */
  readonly places: number;
  /** After a crash the place is free again at most this many milliseconds later; a holder that lives extends it. */
  readonly leaseMs: number;
}

export interface WithPlaceOptions {
  /** How many milliseconds to wait for a place. Defaults to 0: full means an error at once. */
  readonly acquireTimeoutMs?: number | undefined;
  /** When a job that found no place is to be tried again, in milliseconds. Defaults to the host's own growing wait. */
  readonly retryAfterMs?: number | undefined;
  /** Ends the waiting, and aborts the signal of a running `fn`. */
  readonly signal?: AbortSignal | undefined;
}

export interface Semaphore {
  /**
   * Runs `fn` in one of the places, and settles as `fn` does.
   *
   * @throws RangeError when an argument is unsound
   * @throws SemaphoreFullError when no place came free within `acquireTimeoutMs`
   * @throws SemaphorePlaceLostError when `fn` has settled and the place was lost meanwhile, whatever `fn` returned or threw. `fn`'s signal
   *   aborts with it
   * @throws what `fn` throws, unchanged; the reason of `signal`; what the Redis client throws, or an Error when Redis does not answer
   */
  withPlace<T>(fn: (context: { readonly signal: AbortSignal }) => Promise<T>, options?: WithPlaceOptions): Promise<T>;
}

// Holders by the end of their leases, on Redis's clock, since their own clocks disagree. The set goes with the last lease.
const acquireScript = `
local time = redis.call("TIME")
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", nowMs)
if not redis.call("ZSCORE", KEYS[1], ARGV[1]) and redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call("ZADD", KEYS[1], nowMs + ARGV[2], ARGV[1])
redis.call("PEXPIRE", KEYS[1], math.max(ARGV[2], redis.call("PTTL", KEYS[1])))
return 1`;

// A place past its end that is still there was not given to another: giving clears such places away first.
const extendScript = `
if not redis.call("ZSCORE", KEYS[1], ARGV[1]) then return 0 end
local time = redis.call("TIME")
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", KEYS[1], nowMs + ARGV[2], ARGV[1])
redis.call("PEXPIRE", KEYS[1], math.max(ARGV[2], redis.call("PTTL", KEYS[1])))
return 1`;

/**
 * Bounds how many may use something at once, over all processes that share a Redis and a prefix. A holder that dies frees its place
 * within `leaseMs`.
 *
 * @throws RangeError when an argument is unsound
 */
export function createSemaphore({ redis, prefix, name, places, leaseMs }: SemaphoreOptions): Semaphore {
  checkName("name", name);
  checkDuration("leaseMs", leaseMs, { unitMs: 1, mayBeZero: false });
  if (!Number.isSafeInteger(places) || places < 1) {
    throw new RangeError(`places: expected a whole number of at least 1, got ${String(places)}.`);
  }
  const key = ownKey(prefix, "semaphore", name);
  const title = `semaphore ${JSON.stringify(name)}`;
  const wholeLeaseMs = Math.ceil(leaseMs);
  return {
    withPlace: async (fn, { acquireTimeoutMs = 0, retryAfterMs, signal } = {}) => {
      checkDuration("acquireTimeoutMs", acquireTimeoutMs, { unitMs: 1, mayBeZero: true });
      const holder = randomUUID();
      const lease: Lease<true> = {
        title,
        kind: "semaphore",
        leaseMs: wholeLeaseMs,
        acquire: async () =>
          (await redis.eval(acquireScript, 1, key, holder, wholeLeaseMs, places)) === 1 ? true : undefined,
        extend: async () => (await redis.eval(extendScript, 1, key, holder, wholeLeaseMs)) === 1,
        release: () => redis.zrem(key, holder),
        contended: (waitedMs) =>
          new SemaphoreFullError(
            `${title}: expected a free place within ${waitedMs} ms, all ${places} are taken.`,
            retryAfterMs,
          ),
        lost: (why) => new SemaphorePlaceLostError(`${title}: a place was lost while its function ran: ${why}.`),
      };
      const acquisition = await acquireLease(lease, { acquireTimeoutMs, signal });
      return holdLease(lease, acquisition, signal, (ownSignal) => fn({ signal: ownSignal }));
    },
  };
}
