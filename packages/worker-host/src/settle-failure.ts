import { formatJobFailure } from "@millrace/worker-config/contracts";
import { DelayedError, type Job, UnrecoverableError, WaitingError } from "bullmq";
import type { ClassifiedFailure } from "./classify-failure.ts";
import type { FailureOutcome } from "./decide-outcome.ts";

type FetchedJob = Job<unknown, unknown, string>;

/**
 * Carries the decision out and returns what the processor throws, by which BullMQ learns of it: an UnrecoverableError ends the job, any
 * other one counts an attempt, and DelayedError and WaitingError say that the job has been moved already and nothing is counted.
 */
export async function settleFailure(
  job: FetchedJob,
  token: string | undefined,
  failure: ClassifiedFailure,
  decision: FailureOutcome,
): Promise<Error> {
  switch (decision.outcome) {
    case "failed":
    case "cancelled":
      return withStackOf(failure.error, new UnrecoverableError(formatJobFailure(failure)));
    case "retry":
    // The lock is another's: BullMQ finds that out by itself when it tries to record this.
    case "lost":
      return withStackOf(failure.error, new Error(formatJobFailure(failure)));
    case "deferred":
      await job.moveToDelayed(Date.now() + decision.delayMs, token);
      return new DelayedError();
    case "handed_back":
      await job.moveToWait(token);
      return new WaitingError();
  }
}

/** A dead letter shows where it happened, not where it was settled. */
function withStackOf(origin: Error, error: Error): Error {
  if (origin.stack) error.stack = origin.stack;
  return error;
}
