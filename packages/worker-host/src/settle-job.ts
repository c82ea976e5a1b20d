import { formatJobFailure, formatJobSkip } from "@millrace/worker-config/contracts";
import { DelayedError, type Job, UnrecoverableError, WaitingError } from "bullmq";
import type { JobOutcome } from "./job-outcome.ts";
import { retryBackoff } from "./retry-backoff.ts";
import type { ScreenedWorker } from "./screened-worker.ts";

/**
 * Carries out any outcome but completion and tells BullMQ of it, which learns it from what the processor returns or throws: an
 * UnrecoverableError ends the job, any other one counts an attempt, and DelayedError and WaitingError say that the job has been moved already and
 * nothing is counted.
 *
 * @returns what the skipped job stores
 */
export async function settleJob(
  worker: Pick<ScreenedWorker, "letGoOf">,
  job: Job<unknown, unknown, string>,
  token: string | undefined,
  outcome: Exclude<JobOutcome, { outcome: "completed" }>,
): Promise<unknown> {
  switch (outcome.outcome) {
    case "skipped":
      return formatJobSkip(outcome);
    case "failed":
    case "cancelled":
      throw withStackOf(outcome.failure.error, new UnrecoverableError(formatJobFailure(outcome.failure)));
    case "retry": {
      job.opts.backoff = await retryBackoff(job, outcome.leastDelayMs);
      // BullMQ hands it on to our backoff strategy.
      const failure = Object.assign(new Error(formatJobFailure(outcome.failure)), {
        leastDelayMs: outcome.leastDelayMs,
      });
      throw withStackOf(outcome.failure.error, failure);
    }
    case "lost":
      // Where the lock is this worker's after all, nothing has happened to the job. Where it is another's, BullMQ finds that out by itself
      // when it tries to record this.
      await job.moveToWait(token).catch(() => {
        throw withStackOf(outcome.failure.error, new Error(formatJobFailure(outcome.failure)));
      });
      worker.letGoOf(job);
      throw new WaitingError();
    case "deferred":
      await job.moveToDelayed(Date.now() + outcome.delayMs, token);
      worker.letGoOf(job);
      throw new DelayedError();
    case "handed_back":
      await job.moveToWait(token);
      worker.letGoOf(job);
      throw new WaitingError();
  }
}

/** A dead letter shows where it happened, not where it was settled. */
function withStackOf(origin: Error, error: Error): Error {
  if (origin.stack !== undefined) error.stack = origin.stack;
  return error;
}
