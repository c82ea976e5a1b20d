import type { AcceptedJob } from "@millrace/worker-config";
import { cancelledReason, type JobStatus, toJobStatus } from "@millrace/worker-config/contracts";

/** A job as this process holds it. What Redis would hold as JSON is JSON here, so that nothing survives that Redis would lose. */
export interface MemoryJob {
  readonly jobId: string;
  readonly action: string;
  readonly envelope: string;
  readonly createdAt: number;
  readonly attemptsAllowed: number;
  /** 0 for none: such a job runs before all that have one. */
  readonly priority: number;
  readonly dedupeKey: string | undefined;
  /** In BullMQ's words, which the status is made from. */
  state: "waiting" | "delayed" | "active" | "completed" | "failed";
  runnableAt: number;
  /** When the wait is over of one that is delayed. */
  dueMs?: number | undefined;
  attemptsMade: number;
  starts: number;
  replays: number;
  progress: string;
  /** What its handler said of it, the last hundred lines. */
  readonly notes: string[];
  startedAt?: number | undefined;
  finishedAt?: number | undefined;
  returned?: string;
  failedReason?: string | undefined;
  isCancelled: boolean;
}

export function createMemoryJob({ name, data, opts }: AcceptedJob, jobId: string, now: number): MemoryJob {
  return {
    jobId,
    action: name,
    envelope: JSON.stringify(data),
    createdAt: now,
    runnableAt: now + (opts.delay ?? 0),
    attemptsAllowed: opts.attempts,
    priority: opts.priority ?? 0,
    dedupeKey: opts.deduplication?.id,
    state: "waiting",
    attemptsMade: 0,
    starts: 0,
    replays: 0,
    progress: "0",
    notes: [],
    isCancelled: false,
  };
}

export function toMemoryJobStatus(queue: string, job: MemoryJob, now: number): JobStatus {
  const stored = {
    id: job.jobId,
    name: job.action,
    data: JSON.parse(job.envelope),
    attemptsMade: job.attemptsMade,
    progress: JSON.parse(job.progress),
    timestamp: job.createdAt,
    processedOn: job.startedAt,
    finishedOn: job.finishedAt,
    dueMs: job.state === "delayed" ? job.dueMs : undefined,
    returnvalue: job.returned === undefined ? null : JSON.parse(job.returned),
    failedReason: job.failedReason,
    deferredFailure: job.isCancelled ? cancelledReason : undefined,
  };
  return toJobStatus(queue, stored, job.state, now);
}
