import type { DefaultJobOptions, QueueOptions, WorkerOptions } from "bullmq";
import { backoffStrategy, backoffType } from "./backoff.ts";

/** Every job's options where neither its contract nor its enqueue says otherwise. Each default stands here once. */
export const defaultJobOptions = {
  // Enough for a blip of a network or a provider; what needs more says so in its contract.
  attempts: 3,
  backoff: { type: backoffType },
  // A day to look a job up or to recognise its duplicate, bounded so that a busy queue cannot fill Redis.
  removeOnComplete: { age: 24 * 60 * 60, count: 100_000 },
  // The failed set is the dead letter queue: it is emptied by replay and purge alone.
  removeOnFail: false,
  // Each stack trace is kept in Redis with the job.
  stackTraceLimit: 10,
  keepLogs: 100,
} satisfies DefaultJobOptions;

export const defaultStreamOptions = {
  // Listeners catch up on about this many events; without a bound the stream grows for ever.
  events: { maxLen: 10_000 },
} satisfies QueueOptions["streams"];

/** What every worker starts from. */
export const defaultWorkerOptions = {
  concurrency: 10,
  // A lock is renewed at half its life; a worker that dies is noticed within lock duration plus stalled interval.
  lockDuration: 30_000,
  stalledInterval: 15_000,
  // A job whose process dies at three of its starts is poison. A deploy is none: it hands its jobs back.
  maxStalledCount: 2,
  // The last resort for every way back into the queue: attempts (100 at most), deferrals (100) and hand-backs together.
  maxStartedAttempts: 250,
  settings: { backoffStrategy },
} satisfies Omit<WorkerOptions, "connection">;
