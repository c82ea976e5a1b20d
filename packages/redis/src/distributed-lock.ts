import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { acquireLease, type Lease } from "./acquire-lease.ts";
import { holdLease } from "./hold-lease.ts";
import { ownKey } from "./key-names.ts";
import { checkDuration, checkName } from "./lease-arguments.ts";

/**
 * Another holds the lock. The worker host knows it by its fields and defers the job without using up an attempt: to `retryAfterMs` from
 * now, else after the host's own growing wait.
 */
export class LockContendedError extends Error {
  override readonly name = "LockContendedError";
  readonly failureKind = "contention";
  readonly code = "lock_contended";
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The lock was lost while `fn` ran: another may have run at the same time. The host tries the job again. */
export class LockLostError extends Error {
  override readonly name = "LockLostError";
  readonly failureKind = "transient";
  // Not `lock_lost`, which is the job's own lock.
  readonly code = "exclusive_lock_lost";
}

export interface ExclusiveContext {
  /** Aborts when the lock is lost, with a LockLostError, or with the caller's `signal`. Pass it on to whatever waits. */
  readonly signal: AbortSignal;
  /**
   * Greater than that of every earlier holder of the key. What the lock protects can refuse a holder that was frozen and does not know yet
   * that its time is over: it keeps the greatest token that it saw, and takes no smaller one. Takes 51 bits: a `bigint` in PostgreSQL.
   */
  readonly fencingToken: number;
}

export interface RunExclusiveOptions<T> {
  /** What is locked. It stands in errors and so in logs. */
  readonly key: string;
  /** After a crash the lock is free again at most this many seconds later; a holder that lives extends it for as long as `fn` runs. */
  readonly timeoutInSeconds: number;
  /** How many seconds to wait for another holder. Defaults to 0: contended means an error at once. */
  readonly acquireTimeoutInSeconds?: number | undefined;
  /** When a contended job is to be tried again, in milliseconds. Defaults to the host's own growing wait. */
  readonly retryAfterMs?: number | undefined;
  /** Ends the waiting, and aborts the signal of a running `fn`. Its reason is what `runExclusive` then rejects with, or `fn` does. */
  readonly signal?: AbortSignal | undefined;
  readonly fn: (context: ExclusiveContext) => Promise<T>;
}

export interface DistributedLock {
  /**
   * Runs `fn` while no other process runs one under the same key, and settles as `fn` does. The lock is not reentrant. It keeps two
   * holders apart while their clocks run alike and Redis keeps its data; where two at a time would do harm, hand on the `fencingToken`.
   *
   * @throws RangeError when an argument is unsound
   * @throws LockContendedError when another holds the lock, and still does after `acquireTimeoutInSeconds`
   * @throws LockLostError when `fn` has settled and the lock was lost meanwhile, whatever `fn` returned or threw: an extension found
   *   another owner, or none was confirmed within the lease
   * @throws what `fn` throws, unchanged; the reason of `signal`; while it is being acquired, what the Redis client throws, or an Error
   *   when Redis does not answer. A lock whose answer was lost stays taken for `timeoutInSeconds`
   */
  runExclusive<T>(options: RunExclusiveOptions<T>): Promise<T>;
}

// The token is Redis's clock in microseconds, or one more than the last one where that clock stood still or was set back. So it grows
// also after a restart, a failover or a restore that lost the last tokens, and the last one needs no keeping for ever.
const acquireScript = `
local owner = redis.call("GET", KEYS[1])
if owner and owner ~= ARGV[1] then return false end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
local time = redis.call("TIME")
local last = tonumber(redis.call("GET", KEYS[2]) or 0)
local token = math.max(last + 1, time[1] * 1000000 + time[2])
redis.call("SET", KEYS[2], string.format("%.0f", token), "EX", ARGV[3])
return token`;

const extendScript = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])`;

const releaseScript = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`;

const fenceLifetimeSeconds = 86_400;

/**
 * Locks over all processes that share a Redis and a prefix. Two keys per locked key: the lock, which goes with its release, and the
 * last fencing token, about 120 bytes for a day after the last acquisition.
 *
 * @param redis not one that runs blocking commands. In role `worker` commands outlast a short outage, in role `producer` they fail at once
 * @param prefix the QUEUE_PREFIX
 */
export function createDistributedLock({ redis, prefix }: { redis: Redis; prefix: string }): DistributedLock {
  return {
    runExclusive: async ({ key, timeoutInSeconds, acquireTimeoutInSeconds = 0, retryAfterMs, signal, fn }) => {
      checkName("key", key);
      checkDuration("timeoutInSeconds", timeoutInSeconds, { unitMs: 1_000, mayBeZero: false });
      checkDuration("acquireTimeoutInSeconds", acquireTimeoutInSeconds, { unitMs: 1_000, mayBeZero: true });
      const leaseMs = Math.ceil(timeoutInSeconds * 1_000);
      const lockKey = ownKey(prefix, "lock", key);
      const fenceKey = ownKey(prefix, "fence", key);
      const owner = randomUUID();
      const title = `lock ${JSON.stringify(key)}`;
      const lease: Lease<number> = {
        title,
        kind: "lock",
        leaseMs,
        acquire: async () => {
          const token = await redis.eval(acquireScript, 2, lockKey, fenceKey, owner, leaseMs, fenceLifetimeSeconds);
          return token === null ? undefined : Number(token);
        },
        extend: async () => (await redis.eval(extendScript, 1, lockKey, owner, leaseMs)) === 1,
        release: () => redis.eval(releaseScript, 1, lockKey, owner),
        contended: (waitedMs) =>
          new LockContendedError(`${title}: expected it free within ${waitedMs} ms, another holds it.`, retryAfterMs),
        lost: (why) => new LockLostError(`${title}: lost while its function ran: ${why}.`),
      };
      const acquisition = await acquireLease(lease, { acquireTimeoutMs: acquireTimeoutInSeconds * 1_000, signal });
      return holdLease(lease, acquisition, signal, (ownSignal) =>
        fn({ signal: ownSignal, fencingToken: acquisition.grant }),
      );
    },
  };
}
