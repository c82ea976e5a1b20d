import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { type JobStatus, toJobStatus } from "./job-status.ts";

/**
 * The status of one job, or nothing when the queue holds no such job (any more).
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function findJob(queue: QueueName, jobId: string): Promise<JobStatus | undefined> {
  return askQueue(contracts[queue], async (opened) => {
    const job = await opened.getJob(jobId);
    if (!job) return undefined;
    const state = await job.getState();
    // Its last reader came between the two questions: what was read first is still the truth about it.
    return toJobStatus(queue, job, state === "unknown" && job.finishedOn ? finishedState(job.failedReason) : state);
  });
}

function finishedState(failedReason: string | undefined): string {
  return failedReason ? "failed" : "completed";
}
