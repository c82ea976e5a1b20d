import { setTimeout as wait } from "node:timers/promises";
import { createRateLimit, type RateLimit } from "@millrace/redis";
import { ContentionError, RateLimitedError } from "@millrace/worker-host";
import type { Redis } from "ioredis";

/** What a call of the model is about to take. */
export interface ModelCall {
  /** Who asks: a job that has to wait keeps its turn under this name. One call at a time. */
  readonly asker: string;
  readonly workspaceId: string | undefined;
  /** Tokens in and out, as far as anybody knows before the answer. At least 1. */
  readonly estimatedTokens: number;
}

/** Says what the call used instead of its estimate. Never fails: without a word of it the estimate stands. */
export type TellUsedTokens = (usedTokens: number) => Promise<void>;

/**
 * Waits for the asker's turn.
 *
 * @throws RateLimitedError `model_turn`, or `workspace_turn` where it is the workspace's limit, where the turn is too far off to wait for it
 *   here: whoever comes back finds it kept
 * @throws ContentionError `model_turn_unknown` while nobody can say
 */
export type TakeModelTurn = (call: ModelCall, signal: AbortSignal) => Promise<TellUsedTokens>;

/** How much may be asked within a minute, over all processes. What is left out has no limit. */
export interface ModelRate {
  readonly requestsPerMinute?: number | undefined;
  /** Tokens in and out. */
  readonly tokensPerMinute?: number | undefined;
}

/** What serves where no limit is set. */
export const noLimit: TakeModelTurn = async () => async () => {};

interface Limit {
  readonly code: "model_turn" | "workspace_turn";
  readonly counts: "requests" | "tokens";
  readonly rate: RateLimit;
}

/**
 * Shares what a model bears among all processes that ask it, and what one workspace may take of it among that workspace's jobs. Tokens are
 * reserved by an estimate and corrected by what the answer says it took: too low an estimate delays who comes next.
 *
 * @param options.name the server and the model
 * @param options.ofModel what the model bears. Defaults to no limit
 * @param options.ofWorkspace what each workspace may take of it. Calls of no workspace have none of these limits. Defaults to no limit
 */
export function createModelTurns(options: {
  readonly redis: Redis;
  readonly prefix: string;
  readonly name: string;
  readonly ofModel?: ModelRate;
  readonly ofWorkspace?: ModelRate;
  /** A turn that is nearer is waited for: it is not worth a trip through the queue. Defaults to 2,000 milliseconds. */
  readonly longestWaitMs?: number;
}): TakeModelTurn {
  const { redis, prefix, name, ofModel = {}, ofWorkspace = {}, longestWaitMs = 2_000 } = options;
  const limitsOf = ({ requestsPerMinute, tokensPerMinute }: ModelRate, workspaceId?: string): Limit[] => {
    const code = workspaceId === undefined ? "model_turn" : "workspace_turn";
    const limits = [
      { counts: "requests", max: requestsPerMinute },
      { counts: "tokens", max: tokensPerMinute },
    ] as const;
    return limits.flatMap(({ counts, max }) => {
      if (max === undefined) return [];
      // As JSON, since a workspace's id may hold any sign that would part one name from another.
      const rateName = `ai:${JSON.stringify([counts, name, workspaceId])}`;
      return [{ code, counts, rate: createRateLimit({ redis, prefix, name: rateName, max, durationMs: 60_000 }) }];
    });
  };
  const modelLimits = limitsOf(ofModel);
  return async (call, signal) => {
    const { workspaceId, estimatedTokens } = call;
    // The workspace's first: one that has to wait for itself takes no turn from the others.
    const limits = workspaceId === undefined ? modelLimits : [...limitsOf(ofWorkspace, workspaceId), ...modelLimits];
    for (let blocked = await takeAll(limits, call); blocked; blocked = await takeAll(limits, call)) {
      const { code, waitMs } = blocked;
      if (waitMs > longestWaitMs) {
        const whose = code === "model_turn" ? "model's" : "workspace's";
        throw new RateLimitedError(`The ${whose} next turn is in ${waitMs} ms.`, { code, retryAfterMs: waitMs });
      }
      await wait(waitMs, undefined, { signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
    }
    return async (usedTokens) => {
      const more = Math.round(usedTokens) - estimatedTokens;
      const corrected = limits.filter(({ counts }) => counts === "tokens").map(({ rate }) => rate.correct(more));
      // The answer is there and paid for: nothing is undone because Redis has gone meanwhile.
      await Promise.allSettled(corrected);
    };
  };
}

/** A token is about four characters of English and fewer of most other languages; at least 1. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4) || 1;
}

/**
 * A turn of every limit, or of none: those that were given are kept for the asker's next try.
 *
 * @returns the first limit that has to be waited for; undefined to go now
 */
async function takeAll(
  limits: readonly Limit[],
  { asker, estimatedTokens }: ModelCall,
): Promise<{ readonly code: Limit["code"]; readonly waitMs: number } | undefined> {
  try {
    for (const [index, { code, counts, rate }] of limits.entries()) {
      const waitMs = await rate.takeTurn(asker, counts === "tokens" ? estimatedTokens : 1);
      if (waitMs === 0) continue;
      await Promise.all(limits.slice(0, index).map((given) => given.rate.keepTurn(asker)));
      return { code, waitMs };
    }
    return undefined;
  } catch (cause) {
    throw new ContentionError("The model's rate cannot be asked for.", { code: "model_turn_unknown", cause });
  }
}
