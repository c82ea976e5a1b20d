import { backoffDelayMs } from "@millrace/worker-config";
import type { ClassifiedFailure } from "./classify-failure.ts";

/** What happens to a job whose attempt did not return. */
export type FailureOutcome =
  | { readonly outcome: "failed" | "retry" | "cancelled" | "handed_back" | "lost" }
  | { readonly outcome: "deferred"; readonly delayMs: number };

/** What the decision needs to know of the job. */
export interface AttemptFacts {
  readonly isFinalAttempt: boolean;
  /** The contract names an idempotency key, so that a second run has no second effect. */
  readonly isIdempotent: boolean;
  /** Starts so far, this one included; deferrals and hand-backs count. */
  readonly starts: number;
  /** Since the job could first run, without the waits of its retries, in milliseconds. */
  readonly ageMs: number;
}

/** A job that is deferred for ever is lost as well: past these it goes to the dead letters. */
export const deferralLimits = { starts: 100, ageMs: 24 * 60 * 60_000 };

const longestDeferralMs = 60 * 60_000;
const longestUnaskedDeferralMs = 60_000;

/** The whole decision, one line per meaning. */
export function decideOutcome({ kind, retryAfterMs }: ClassifiedFailure, facts: AttemptFacts): FailureOutcome {
  switch (kind) {
    case "permanent":
      return { outcome: "failed" };
    case "transient":
      return { outcome: facts.isFinalAttempt ? "failed" : "retry" };
    case "ambiguous":
      return { outcome: facts.isIdempotent && !facts.isFinalAttempt ? "retry" : "failed" };
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

/** Age counts from the second start on: the first may come late because the queue was long, which is not the job's doing. */
function isWornOut({ starts, ageMs }: AttemptFacts): boolean {
  return starts >= deferralLimits.starts || (starts > 1 && ageMs >= deferralLimits.ageMs);
}

function deferralMs(starts: number, askedMs: number | undefined): number {
  if (askedMs !== undefined) return Math.min(Math.max(Math.round(askedMs), 0), longestDeferralMs);
  return Math.min(backoffDelayMs(starts), longestUnaskedDeferralMs);
}
