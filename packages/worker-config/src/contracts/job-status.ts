import { z } from "zod";
import { toIso } from "./iso-time.ts";
import { jobEnvelopeSchema } from "./job-envelope.ts";
import { type JobFailure, parseJobFailure } from "./job-failure.ts";
import { parseJobSkip } from "./job-skip.ts";

/** The closed vocabulary in which a job's state is told. */
export const jobStatuses = z.enum(["pending", "running", "retrying", "success", "failed", "cancelled", "skipped"]);
export type JobStatusName = z.infer<typeof jobStatuses>;

export interface JobStatus {
  readonly jobId: string;
  readonly queue: string;
  readonly action: string;
  readonly status: JobStatusName;
  /** Attempts that ended so far. */
  readonly attempts: number;
  /** What its handler said last, in per cent, 0 until then, and 100 once it succeeded. */
  readonly progress: unknown;
  readonly createdAt: string;
  /** When a job that waits for its time (delayed, deferred, between two attempts) is due. Null of any other, and in the past where no worker takes it. */
  readonly dueAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Null until the job succeeded, and again once the result's lifetime is over. A skipped job shows what an earlier one returned. */
  readonly result: unknown;
  /** The last failure, also while the job is tried again; of a skipped job, why it was skipped. */
  readonly error: JobFailure | null;
}

/** A job as BullMQ holds it: what the status is made from. */
export interface StoredJob {
  readonly id?: string | undefined;
  readonly name: string;
  readonly data: unknown;
  readonly attemptsMade: number;
  readonly progress: unknown;
  readonly timestamp: number;
  readonly processedOn?: number | undefined;
  readonly finishedOn?: number | undefined;
  /** When its wait is over, in milliseconds since 1970. Nothing of a job that is not delayed. */
  readonly dueMs?: number | undefined;
  readonly returnvalue: unknown;
  readonly failedReason?: string | undefined;
  /** A failure that is settled and waits for a worker to clear the job away. */
  readonly deferredFailure?: string | undefined;
}

/** Maps BullMQ's record and state to the status that people and programs read. The only place that does. */
export function toJobStatus(queue: string, job: StoredJob, state: string, now: number = Date.now()): JobStatus {
  const reason = job.deferredFailure ?? job.failedReason;
  const error = reason ? parseJobFailure(reason) : null;
  const skip = state === "completed" ? parseJobSkip(job.returnvalue) : undefined;
  const status = skip ? "skipped" : toStatusName(state, job.attemptsMade, error?.code);
  const hasResult = (status === "success" || status === "skipped") && !isExpired(job, now);
  return {
    jobId: job.id ?? "",
    queue,
    action: job.name,
    status,
    attempts: job.attemptsMade,
    progress: status === "success" ? finishedProgress(job.progress) : job.progress,
    createdAt: toIso(job.timestamp) ?? new Date(0).toISOString(),
    dueAt: status === "pending" || status === "retrying" ? toIso(job.dueMs) : null,
    startedAt: toIso(job.processedOn),
    finishedAt: toIso(job.finishedOn),
    result: hasResult ? ((skip ? skip.result : job.returnvalue) ?? null) : null,
    error: skip ? { code: skip.code, message: skip.message } : status === "success" ? null : error,
  };
}

function toStatusName(state: string, attemptsMade: number, code: string | undefined): JobStatusName {
  switch (state) {
    case "active":
      return "running";
    case "completed":
      return "success";
    case "failed":
      return code === "cancelled" ? "cancelled" : "failed";
    default:
      if (code === "cancelled") return "cancelled";
      return attemptsMade > 0 ? "retrying" : "pending";
  }
}

/** A handler says how far it is, and its return says the rest: also that of one which said nothing. What is no share stands as it is. */
function finishedProgress(told: unknown): unknown {
  return typeof told === "number" ? 100 : told;
}

function isExpired(job: StoredJob, now: number): boolean {
  const ttlMs = jobEnvelopeSchema.safeParse(job.data).data?.run?.resultTtlMs;
  return ttlMs !== undefined && job.finishedOn !== undefined && now > job.finishedOn + ttlMs;
}
