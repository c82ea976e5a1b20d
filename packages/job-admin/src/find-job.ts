import { askQueue, contracts, isOfAnotherKind, type QueueName, redisNow } from "@millrace/worker-config";
import { type JobStatus, type StoredJob, toJobStatus } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { readDamagedJob, readQuarantinedJob, toDamagedJob } from "./damaged-job.ts";
import { isJobKey } from "./job-key.ts";

/**
 * The status of one job, or nothing when the queue holds no such job (any more). One whose record is damaged has the error code `corrupt`.
 * One that the workers put into quarantine counts as failed, with the code `quarantined`.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function findJob(queue: QueueName, jobId: string): Promise<JobStatus | undefined> {
  return askQueue(contracts[queue], async (opened) => {
    if (!isJobKey(opened, jobId)) return undefined;
    const asked = await opened.getJobState(jobId);
    // Before the record: of a job that has left in between, the record tells that it is gone, or what became of it.
    const dueMs = asked === "delayed" ? await readDueMs(opened, jobId) : undefined;
    const before = dueMs === null ? await opened.getJobState(jobId) : asked;
    const job = await readJob(opened, jobId);
    if (!job) {
      const quarantined = await readQuarantinedJob(opened, queue, jobId);
      return quarantined && toJobStatus(queue, quarantined, "failed");
    }
    // A job that ended, or was replayed, between the two questions is asked anew: a success never shows without its result.
    const isStale = isFinished(before) !== (job.finishedOn !== undefined);
    const state = isStale ? await opened.getJobState(jobId) : before;
    if (isStale && state === "unknown") return undefined;
    return toJobStatus(
      queue,
      Object.assign(job, { dueMs: state === "delayed" ? (dueMs ?? undefined) : undefined }),
      state,
      redisNow(),
    );
  });
}

async function readJob(queue: Queue, jobId: string): Promise<StoredJob | undefined> {
  try {
    const job = await queue.getJob(jobId);
    // BullMQ reads the stump of a record as a job without a name or a time.
    if (!job || (job.name && Number.isFinite(job.timestamp))) return job;
  } catch (error) {
    if (isOfAnotherKind(error)) return toDamagedJob(jobId, "another kind of key lies in the record's place");
    // BullMQ reads options that are no object as one.
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  return readDamagedJob(queue, jobId);
}

/**
 * BullMQ's score of a delayed job is its time, and in the twelve lowest bits its place among those of the same millisecond. A parent that is to
 * run at once, since a child of its flow failed, has the score 0.
 *
 * @returns null where it is no longer delayed
 */
async function readDueMs(queue: Queue, jobId: string): Promise<number | undefined | null> {
  const client = await queue.getBackend().client;
  const score = await client.runCommand("zscore", [queue.toKey("delayed"), jobId]);
  if (score === null) return null;
  const dueMs = Math.floor(Number(score) / 0x1000);
  return dueMs > 0 ? dueMs : undefined;
}

function isFinished(state: string): boolean {
  return state === "completed" || state === "failed";
}
