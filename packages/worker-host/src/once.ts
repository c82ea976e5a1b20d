import { isAborted } from "./abort-reason.ts";
import type { Effect, EffectStore } from "./effect-store.ts";
import { ContentionError } from "./job-error.ts";
import type { JobOutcome } from "./job-outcome.ts";
import type { LateEnd } from "./run-with-deadline.ts";

interface Terms {
  /** Longer than `run` can take: an attempt ends at its deadline, so the claim needs no renewal. */
  readonly leaseMs: number;
  readonly lifetimeMs: number;
  /** The effect has happened and the store refused to record it. */
  readonly onUnrecorded: (err: Error) => void;
  /** The effect has happened, and another start had claimed it by then: it may happen, or has happened, a second time. */
  readonly onRepeated: () => void;
}

/** How long after a handler that was ended from outside has thrown its claim is given up: a request that it let go of may still be on its way. */
const afterThrowMs = 5_000;

/**
 * Runs what has an effect unless the effect has happened already; then its stored result is the answer. While another job is at it, this
 * one is deferred.
 *
 * It cannot take back what a process did before it was killed: between the effect and its finish lies a moment in which both die, and the
 * next start has the effect again. A service that takes an idempotency key closes that gap; hand it `context.idempotencyKey`.
 *
 * A store that refuses (Redis is full, or takes no writes) is no failure of the job: before `run` the job is deferred, and after it the job
 * completes, since a further attempt would have the effect a second time. Then the claim alone holds off other jobs, until its lease is over.
 * So nobody waits for the answer to the finish: the job's own end follows on its heels, a round trip earlier.
 *
 * @param run tells its argument how it came to its own end, where it was ended from outside before
 * @throws ContentionError `effect_in_progress` or `effect_lookup_failed`; else what `run` threw, after the claim was given up
 */
export async function once(
  store: EffectStore,
  effect: Effect,
  { leaseMs, lifetimeMs, onUnrecorded, onRepeated }: Terms,
  run: (onLateEnd: (end: LateEnd<unknown>) => void) => Promise<unknown>,
): Promise<JobOutcome> {
  const claim = await store.claim(effect, leaseMs).catch((cause: unknown) => {
    throw new ContentionError("Whether the effect has happened could not be asked.", {
      code: "effect_lookup_failed",
      cause,
    });
  });
  if (claim.state === "busy") {
    throw new ContentionError("Another job with the same idempotency key is running.", { code: "effect_in_progress" });
  }
  if (claim.state === "done") {
    const result = JSON.parse(claim.result) ?? undefined;
    // The job itself had the effect and died before it was recorded as completed: it has run.
    if (claim.byOwner) return { outcome: "completed", result };
    const message = "An earlier job with the same idempotency key had the effect.";
    return { outcome: "skipped", code: "already_done", message, result };
  }
  // A claim that cannot be given up ends with its lease; the attempt's own error is what matters.
  const giveUp = () => store.giveUp(effect).catch(() => {});
  const finish = (done: unknown) => {
    store
      .finish(effect, JSON.stringify(done ?? null), lifetimeMs)
      .then((isRecorded) => isRecorded || onRepeated(), onUnrecorded);
  };
  let result: unknown;
  try {
    // A timer that does not outlive its process: then the lease decides.
    result = await run(
      (end) => void (end === "threw" ? setTimeout(giveUp, afterThrowMs).unref() : finish(end.returned)),
    );
  } catch (error) {
    // An attempt that was ended from outside may still be at it, where its handler ignores the signal: no other job comes near the effect
    // until the handler has come to its end as well, or the lease is over. The job itself takes its own claim over.
    if (isAborted(error)) throw error;
    await giveUp();
    throw error;
  }
  finish(result);
  return { outcome: "completed", result };
}
