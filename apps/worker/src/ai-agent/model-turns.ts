import { setTimeout as wait } from "node:timers/promises";
import { createRateLimit } from "@millrace/redis";
import { ContentionError, RateLimitedError } from "@millrace/worker-host";
import type { Redis } from "ioredis";

/**
 * Waits for the asker's turn.
 *
 * @throws RateLimitedError `model_turn` where the turn is too far off to wait for it here: whoever comes back finds it kept
 * @throws ContentionError `model_turn_unknown` while nobody can say
 */
export type TakeModelTurn = (asker: string, signal: AbortSignal) => Promise<void>;

/** What serves where AI_REQUESTS_PER_MINUTE is unset. */
export const noLimit: TakeModelTurn = async () => {};

/**
 * Shares what a model bears among all processes that ask it.
 *
 * @param options.name the server and the model
 */
export function createModelTurns(options: {
  readonly redis: Redis;
  readonly prefix: string;
  readonly name: string;
  readonly perMinute: number;
  /** A turn that is nearer is waited for: it is not worth a trip through the queue. Defaults to 2,000 milliseconds. */
  readonly longestWaitMs?: number;
}): TakeModelTurn {
  const { redis, prefix, name, perMinute, longestWaitMs = 2_000 } = options;
  const { takeTurn } = createRateLimit({ redis, prefix, name: `ai:${name}`, max: perMinute, durationMs: 60_000 });
  const ask = (asker: string) =>
    takeTurn(asker).catch((cause: unknown) => {
      throw new ContentionError("The model's rate cannot be asked for.", { code: "model_turn_unknown", cause });
    });
  return async (asker, signal) => {
    for (let waitMs = await ask(asker); waitMs > 0; waitMs = await ask(asker)) {
      if (waitMs > longestWaitMs) {
        throw new RateLimitedError(`The model's next turn is in ${waitMs} ms.`, {
          code: "model_turn",
          retryAfterMs: waitMs,
        });
      }
      await wait(waitMs, undefined, { signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
    }
  };
}
