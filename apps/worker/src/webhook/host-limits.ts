import { createRateLimit, createSemaphore } from "@millrace/redis";
import { ContentionError, RateLimitedError } from "@millrace/worker-host";
import type { Redis } from "ioredis";

/** How much of us one host gets to see, over all processes and whichever of its endpoints. */
export interface HostLimits {
  /**
   * Runs `deliver` when it is this host's turn.
   *
   * @param visitor the same at each try: whoever comes too early is given a turn and keeps it
   * @throws RateLimitedError or a contention when it is to be tried later; else what `deliver` throws
   */
  take<T>(host: string, visitor: string, signal: AbortSignal, deliver: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export interface HostLimitsOptions {
  readonly redis: Redis;
  /** The QUEUE_PREFIX. */
  readonly prefix: string;
  /** Deliveries at once. */
  readonly concurrency: number;
  /** Deliveries begun per second. */
  readonly perSecond: number;
}

// Of a process that died; one that lives extends it.
const leaseMs = 30_000;

/** Limits that are kept in Redis. */
export function createHostLimits({ redis, prefix, concurrency, perSecond }: HostLimitsOptions): HostLimits {
  return {
    take: async (host, visitor, signal, deliver) => {
      const name = `webhook:${host}`;
      const semaphore = createSemaphore({ redis, prefix, name, places: concurrency, leaseMs });
      const rateLimit = createRateLimit({ redis, prefix, name, max: perSecond, durationMs: 1_000 });
      // The turn comes first: turns have an order and places have none, so that whoever waits for a place alone may be overtaken for ever.
      const waitMs = await rateLimit.takeTurn(visitor).catch((cause: unknown) => {
        throw new ContentionError("The limits per host cannot be asked for.", { code: "limits_unavailable", cause });
      });
      if (waitMs > 0) {
        throw new RateLimitedError(`The host's next turn is in ${waitMs} ms.`, {
          code: "host_rate",
          retryAfterMs: waitMs,
        });
      }
      return semaphore.withPlace(({ signal: placeSignal }) => deliver(placeSignal), { signal });
    },
  };
}
