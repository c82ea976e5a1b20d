import type { JobsOptions } from "bullmq";

type Retention = Pick<JobsOptions, "removeOnComplete" | "removeOnFail">;

/**
 * Keeps the job's id for a time, so that an equal enqueue adds nothing: for effects that must not happen twice. A job that failed
 * keeps its id until it is replayed or purged.
 *
 * BullMQ applies an age to the whole completed set when a job finishes: in one queue the shortest age asked for wins.
 *
 * @param keepForMs at least 1,000; BullMQ counts whole seconds. Expiry is lazy: an idle queue removes nothing.
 */
export function dedupe(keepForMs: number): Retention {
  if (!Number.isFinite(keepForMs) || keepForMs < 1_000) {
    throw new RangeError(`dedupe: expected at least 1000 milliseconds, got ${keepForMs}.`);
  }
  return { removeOnComplete: { age: Math.ceil(keepForMs / 1_000) }, removeOnFail: false };
}

/**
 * Frees the job's id the moment it ends, well or badly, so that the next enqueue with it runs: for wake-ups whose truth is a
 * database row that a sweeper looks at again. A failure leaves no dead letter, only its log line.
 */
export function redrive(): Retention {
  return { removeOnComplete: true, removeOnFail: true };
}
