import type { JobStatus, JobStatusName, QueueName } from "@millrace/worker-config/contracts";
import type { WakeSource, WakeUps } from "./wake-ups.ts";

/** Where a follower looks, and what wakes it. */
export interface JobSource {
  readonly wakeUps: WakeUps;
  /** The QUEUE_PREFIX. */
  readonly prefix: string;
  readonly findJob: (queue: QueueName, jobId: string) => Promise<JobStatus | undefined>;
  /** How often a job's record is read though nothing woke its follower, in milliseconds. */
  readonly pollMs: number;
}

/** The stream that BullMQ keeps per queue has an entry for whatever happens to a job. */
export function recordSource(prefix: string, queue: QueueName, jobId: string): WakeSource {
  return { queue, stream: `${prefix}:${queue}:events`, jobId };
}

const endings: ReadonlySet<JobStatusName> = new Set(["success", "failed", "cancelled", "skipped"]);

/** Whether a job has come to its end, from which only a replay brings it back. */
export function hasEnded({ status }: Pick<JobStatus, "status">): boolean {
  return endings.has(status);
}
