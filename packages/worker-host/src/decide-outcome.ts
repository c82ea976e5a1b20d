import type { ClassifiedFailure } from "./classify-failure.ts";

/** What happens to a job whose attempt did not return. */
export type FailureOutcome =
  | { readonly outcome: "failed" | "cancelled" | "handed_back" | "lost" }
  /** The attempt counts. The wait is the job's own, or this one where it is longer. */
  | { readonly outcome: "retry"; readonly leastDelayMs?: number }
  | { readonly outcome: "deferred"; readonly delayMs: number };

/** What the decision needs to know of the job. */
export interface AttemptFacts {
  readonly isFinalAttempt: boolean;
  /** The job has an idempotency key, so that a second run has no second effect. */
  readonly isIdempotent: boolean;
  /** Starts so far, this one included; deferrals and hand-backs count. */
  readonly starts: number;
  /** Since the job could first run, without the waits of its retries, in milliseconds. */
  readonly ageMs: number;
}

/** A job that is deferred for ever is lost as well: past these it goes to the dead letters. */
export const deferralLimits = { starts: 100, ageMs: 24 * 60 * 60_000 };

// What an error may ask for: the other side may be mistaken by years.
const longestAskedMs = 60 * 60_000;
const shortestUnaskedMs = 1_000;
const longestUnaskedMs = 15 * 60_000;

/** The whole decision, one line per meaning. */
export function decideOutcome({ kind, retryAfterMs }: ClassifiedFailure, facts: AttemptFacts): FailureOutcome {
  switch (kind) {
    case "permanent":
      return { outcome: "failed" };
    case "transient":
      return facts.isFinalAttempt ? { outcome: "failed" } : retry(retryAfterMs);
    case "ambiguous":
      return facts.isIdempotent && !facts.isFinalAttempt ? retry(retryAfterMs) : { outcome: "failed" };
    case "rate_limited":
    case "contention":
      return isWornOut(facts)
        ? { outcome: "failed" }
        : { outcome: "deferred", delayMs: deferralMs(facts.starts, retryAfterMs) };
    case "cancelled":
      return { outcome: "cancelled" };
    case "interrupted":
      return { outcome: "handed_back" };
    case "lock_lost":
      return { outcome: "lost" };
  }
}

/**
 * Age counts for a job that has been put off for so long: a queue that was long, paused or without a worker for a weekend is not its doing. A day of
 * the longest waits is 24 starts.
 */
function isWornOut({ starts, ageMs }: AttemptFacts): boolean {
  const startsOfThatAge = deferralLimits.ageMs / longestAskedMs;
  return starts >= deferralLimits.starts || (starts > startsOfThatAge && ageMs >= deferralLimits.ageMs);
}

/**
 * Unasked the wait is 1 s, 2 s, 4 s … 15 min, so that the hundred starts last as long as the age allows, about a day; and up to an eighth
 * more at random, so that those that were put off together do not come back together. An asked one stands as it is: turns that a rate limit has
 * promised lie evenly, and chance would heap them.
 */
function deferralMs(starts: number, askedMs: number | undefined): number {
  // A time that is over says nothing: somebody's clock is wrong.
  if (askedMs !== undefined && askedMs > 0) return withinAsked(askedMs);
  const leastMs = Math.min(shortestUnaskedMs * 2 ** Math.min(starts - 1, 30), longestUnaskedMs);
  return Math.round(leastMs * (1 + Math.random() / 8));
}

function retry(askedMs: number | undefined): FailureOutcome {
  return { outcome: "retry", ...(askedMs !== undefined && { leastDelayMs: withinAsked(askedMs) }) };
}

function withinAsked(askedMs: number): number {
  return Math.min(Math.max(Math.ceil(askedMs), 0), longestAskedMs);
}
