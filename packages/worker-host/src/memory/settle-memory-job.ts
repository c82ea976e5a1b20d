import { backoffStrategy } from "@millrace/worker-config";
import { formatJobSkip } from "@millrace/worker-config/contracts";
import type { JobOutcome } from "../job-outcome.ts";
import type { MemoryJob } from "./memory-job.ts";
import type { MemoryQueue } from "./memory-queue.ts";

/** Carries an outcome out, as `settleJob` does with BullMQ. */
export function settleMemoryJob(queue: MemoryQueue, job: MemoryJob, outcome: JobOutcome): void {
  switch (outcome.outcome) {
    case "completed":
      queue.complete(job, outcome.result);
      break;
    case "skipped":
      queue.complete(job, formatJobSkip(outcome));
      break;
    case "failed":
    case "cancelled":
      queue.fail(job, outcome.failure);
      break;
    case "retry":
      queue.retry(job, outcome.failure, Math.max(retryDelayMs(job), outcome.leastDelayMs ?? 0));
      break;
    // There are no locks here, so none is lost.
    case "lost":
      queue.retry(job, outcome.failure, retryDelayMs(job));
      break;
    case "deferred":
      queue.defer(job, outcome.delayMs);
      break;
    case "handed_back":
      queue.defer(job, 0);
      break;
  }
}

function retryDelayMs({ attemptsMade, envelope }: MemoryJob): number {
  return backoffStrategy(attemptsMade + 1, undefined, undefined, { data: JSON.parse(envelope) });
}
