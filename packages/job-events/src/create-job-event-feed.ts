import type { JobStatus, QueueName } from "@millrace/worker-config/contracts";
import type { Redis } from "ioredis";
import { type FollowOptions, followJob } from "./follow-job.ts";
import type { JobNews } from "./job-news.ts";
import { readLastId } from "./read-events.ts";
import { type WaitOptions, waitForEnd } from "./wait-for-end.ts";
import { createWakeUps } from "./wake-ups.ts";

export interface JobEventFeedOptions {
  /** Makes the one blocking connection, in role `events`, when somebody follows. The feed closes it. */
  readonly connect: () => Redis;
  /** The QUEUE_PREFIX. */
  readonly prefix: string;
  /** The truth about a job: `findJob` of `@millrace/job-admin`. */
  readonly findJob: (queue: QueueName, jobId: string) => Promise<JobStatus | undefined>;
  /** Told when Redis refuses to let this user read streams: news then come with the poll alone. */
  readonly onRefused?: (error: Error) => void;
  /** How often a job's record is read though nothing woke its follower, in milliseconds. Defaults to 5,000. */
  readonly pollMs?: number;
  /** How long the blocking connection outlives its last follower, in milliseconds. Defaults to 5,000. */
  readonly lingerMs?: number;
}

export interface JobEventFeed {
  /**
   * Follows a job to its end. A follower that takes its time is waited for: a few events are held for it, and what it misses because the
   * stream is bounded is told as a gap. During an outage of Redis it hears `idle`, and goes on afterwards.
   *
   * @throws QueueUnavailableError when Redis does not answer at the beginning
   */
  follow(queue: QueueName, jobId: string, options: FollowOptions): AsyncGenerator<JobNews, void>;
  /**
   * Waits for a job to end, and returns it as it stands then, or when the time is over. Nothing when the queue holds no such job (any more).
   *
   * @throws QueueUnavailableError when Redis does not answer
   */
  waitForEnd(queue: QueueName, jobId: string, options: WaitOptions): Promise<JobStatus | undefined>;
  /** Closes the connection. Whoever still follows hears of changes by the poll alone: abort their signals first. */
  close(): void;
}

/**
 * Follows jobs, any number of them, over one blocking connection per process. It is woken by what the engine writes of every job anyway (the
 * stream that BullMQ keeps per queue) and by the jobs' own streams, so that workers spend nothing on being watched. Both only wake: what
 * is told is read from the job's record, which a poll looks at as well, because the engine's stream is trimmed.
 */
export function createJobEventFeed({
  connect,
  prefix,
  findJob,
  onRefused = () => {},
  pollMs = 5_000,
  lingerMs = 5_000,
}: JobEventFeedOptions): JobEventFeed {
  const wakeUps = createWakeUps({ connect, readLastId, onRefused, lingerMs });
  const source = { wakeUps, prefix, findJob, pollMs };
  return {
    follow: (queue, jobId, options) => followJob(source, queue, jobId, options),
    waitForEnd: (queue, jobId, options) => waitForEnd(source, queue, jobId, options),
    close: wakeUps.close,
  };
}
