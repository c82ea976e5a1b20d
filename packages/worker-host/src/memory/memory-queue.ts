import { randomUUID } from "node:crypto";
import type { AcceptedJob, Enqueued } from "@millrace/worker-config";
import {
  cancelledReason,
  formatJobFailure,
  type JobFailure,
  type JobStatus,
  type QueueName,
} from "@millrace/worker-config/contracts";
import { createDedupeKeys } from "./dedupe-keys.ts";
import { createMemoryJob, type MemoryJob, toMemoryJobStatus } from "./memory-job.ts";
import { createRankedSet } from "./ranked-set.ts";

/** Ended jobs that a queue remembers, dead letters apart: for their status, and to recognise a duplicate of their id. */
export const endedJobsKept = 10_000;

/**
 * - `cancelled`: it will not run (again).
 * - `cancelling`: it runs, hears of it through its signal, and will not be tried again.
 * - `finished`: it had ended before, and stays as it was.
 * - `unknown`: the queue holds no such job.
 */
export type MemoryCancellation = "cancelled" | "cancelling" | "finished" | "unknown";

/**
 * - `replayed`: it waits to run, as new.
 * - `not_failed`: it waits, runs or has succeeded.
 * - `unknown`: the queue holds no such job.
 */
export type MemoryReplay = "replayed" | "not_failed" | "unknown";

export type MemoryQueue = ReturnType<typeof createMemoryQueue>;

/** The jobs of one queue: where each stands, and what moves it on. It runs none. */
export function createMemoryQueue(name: QueueName, now: () => number) {
  const jobs = new Map<string, MemoryJob>();
  const waiting = createRankedSet<MemoryJob>();
  const delayed = createRankedSet<MemoryJob>();
  const ended = createRankedSet<MemoryJob>();
  const find = (jobId: string) => jobs.get(jobId);
  const dedupeKeys = createDedupeKeys(now, find, remove);
  let lastId = 0;

  function remove(job: MemoryJob): void {
    jobs.delete(job.jobId);
    waiting.delete(job);
    delayed.delete(job);
    ended.delete(job);
  }

  function store(job: AcceptedJob, jobId: string): void {
    const stored = createMemoryJob(job, jobId, now());
    jobs.set(jobId, stored);
    wait(stored, job.opts.delay ?? 0);
  }

  function wait(job: MemoryJob, delayMs: number): void {
    if (job.isCancelled) {
      // Called off while its attempt came to another end.
      callOff(job);
    } else if (delayMs > 0) {
      job.state = "delayed";
      job.dueMs = now() + delayMs;
      delayed.add(job, job.dueMs);
    } else {
      job.state = "waiting";
      waiting.add(job, job.priority);
    }
  }

  function promoteDue(): void {
    while (delayed.lowestRank() <= now()) {
      const job = delayed.first();
      if (!job) return;
      delayed.delete(job);
      wait(job, 0);
    }
  }

  function end(job: MemoryJob, state: "completed" | "failed"): void {
    waiting.delete(job);
    delayed.delete(job);
    job.state = state;
    job.finishedAt = now();
    const isDeadLetter = state === "failed" && statusOf(job).status === "failed";
    if (!isDeadLetter) ended.add(job, 0);
    const oldest = ended.first();
    if (oldest && ended.size > endedJobsKept) remove(oldest);
    const follower = dedupeKeys.release(job);
    if (follower) store(follower.job, follower.jobId);
  }

  function callOff(job: MemoryJob): void {
    job.failedReason = cancelledReason;
    end(job, "failed");
  }

  function statusOf(job: MemoryJob): JobStatus {
    return toMemoryJobStatus(name, job, now());
  }

  return {
    name,
    find,
    statusOf,
    /** Every job that is kept, the oldest first. */
    all: () => jobs.values(),

    add: (job: AcceptedJob): Enqueued => {
      const { deduplication } = job.opts;
      const jobId = job.opts.jobId ?? (deduplication ? randomUUID() : String(++lastId));
      if (jobs.has(jobId)) return { status: "duplicate", jobId };
      const holderId = deduplication && dedupeKeys.claim({ job, jobId }, deduplication);
      if (holderId !== undefined) return { status: "duplicate", jobId: holderId };
      store(job, jobId);
      return { status: "created", jobId };
    },

    /** When the next job is due: long ago when one waits, Infinity when there is none. */
    nextDueAt: () => (waiting.size > 0 ? Number.NEGATIVE_INFINITY : delayed.lowestRank()),

    /** The next job to start, marked as started. */
    take: (): MemoryJob | undefined => {
      promoteDue();
      const job = waiting.first();
      if (!job) return undefined;
      waiting.delete(job);
      job.state = "active";
      job.starts += 1;
      job.startedAt = now();
      return job;
    },

    complete: (job: MemoryJob, returned: unknown): void => {
      job.attemptsMade += 1;
      job.returned = JSON.stringify(returned === undefined ? null : returned);
      end(job, "completed");
    },
    fail: (job: MemoryJob, failure: JobFailure): void => {
      job.attemptsMade += 1;
      job.failedReason = formatJobFailure(failure);
      end(job, "failed");
    },
    retry: (job: MemoryJob, failure: JobFailure, delayMs: number): void => {
      job.attemptsMade += 1;
      job.failedReason = formatJobFailure(failure);
      wait(job, delayMs);
    },
    defer: wait,

    cancel: (jobId: string): MemoryCancellation => {
      const job = jobs.get(jobId);
      if (!job) return "unknown";
      if (job.finishedAt !== undefined) return "finished";
      job.isCancelled = true;
      if (job.state === "active") return "cancelling";
      callOff(job);
      return "cancelled";
    },

    replay: (jobId: string): MemoryReplay => {
      const job = jobs.get(jobId);
      if (!job) return "unknown";
      if (job.state !== "failed") return "not_failed";
      ended.delete(job);
      job.isCancelled = false;
      job.attemptsMade = 0;
      job.starts = 0;
      job.replays += 1;
      job.runnableAt = now();
      job.startedAt = undefined;
      job.finishedAt = undefined;
      job.failedReason = undefined;
      wait(job, 0);
      return "replayed";
    },
  };
}
