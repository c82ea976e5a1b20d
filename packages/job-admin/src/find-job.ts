import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { type JobStatus, toJobStatus } from "@millrace/worker-config/contracts";
import { isJobKey } from "./job-key.ts";

/**
 * The status of one job, or nothing when the queue holds no such job (any more).
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function findJob(queue: QueueName, jobId: string): Promise<JobStatus | undefined> {
  return askQueue(contracts[queue], async (opened) => {
    if (!isJobKey(opened, jobId)) return undefined;
    const before = await opened.getJobState(jobId);
    const job = await opened.getJob(jobId);
    if (!job) return undefined;
    // A job that ended, or was replayed, between the two questions is asked anew: a success never shows without its result.
    const isStale = isFinished(before) !== (job.finishedOn !== undefined);
    const state = isStale ? await opened.getJobState(jobId) : before;
    return isStale && state === "unknown" ? undefined : toJobStatus(queue, job, state);
  });
}

function isFinished(state: string): boolean {
  return state === "completed" || state === "failed";
}
