// The functions of this module and not the global ones: a test that replaces the global timers moves delays, and does not stop jobs from starting.
import { setImmediate } from "node:timers";
import { mostNotes } from "../job-note.ts";
import { type AttemptAbort, createRunningAttempts } from "../running-attempts.ts";
import type { StartedJob } from "../started-job.ts";
import type { HostedQueue, HostParts } from "./hosted-queue.ts";
import type { MemoryJob } from "./memory-job.ts";
import type { MemoryQueue } from "./memory-queue.ts";
import { createRateWindow } from "./rate-window.ts";
import { settleMemoryJob } from "./settle-memory-job.ts";

/** Takes the jobs of one queue until it is told to stop. */
export interface MemoryWorker {
  /** Looks for jobs that may start, soon: after what runs now, so that a job never starts inside of the call that adds it. */
  wake(): void;
  /** A job runs, or one could start now. */
  isBusy(): boolean;
  /** When the next job may start; Infinity when there is none, or as many run as may. */
  nextStartAt(): number;
  takeNoMore(): void;
  /** Ends one that runs, if it does. */
  cancel(jobId: string): void;
  /** Ends all that run: they go back, without having used up an attempt. */
  interrupt(): void;
}

// What setTimeout takes at most.
const longestTimerMs = 2 ** 31 - 1;

export function createMemoryWorker(
  hosted: HostedQueue,
  queue: MemoryQueue,
  concurrency: number,
  parts: HostParts,
  onSettled: () => void,
): MemoryWorker {
  const { now } = parts;
  const processStart = hosted.processWith(parts);
  const rate = createRateWindow(hosted.settings.rateLimit, now);
  const limit = Math.min(concurrency, hosted.settings.concurrency ?? concurrency);
  const running = createRunningAttempts();
  let isWoken = false;
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;

  function nextStartAt(): number {
    if (isStopping || running.size >= limit) return Number.POSITIVE_INFINITY;
    return Math.max(queue.nextDueAt(), rate.opensAt());
  }

  const canStart = () => nextStartAt() <= now();

  function wake(): void {
    if (isWoken) return;
    isWoken = true;
    // Not a microtask, or jobs that never wait for anything would keep every timer from its turn.
    setImmediate(() => {
      isWoken = false;
      startJobs();
    });
  }

  function startJobs(): void {
    while (canStart() && startNext());
    clearTimeout(timer);
    const waitMs = nextStartAt() - now();
    if (waitMs < Number.POSITIVE_INFINITY) timer = setTimeout(wake, Math.min(Math.max(waitMs, 0), longestTimerMs));
  }

  function startNext(): boolean {
    const job = queue.take();
    if (!job) return false;
    rate.countStart();
    void runToEnd(job, running.begin(job.jobId, job.action));
    return true;
  }

  async function runToEnd(job: MemoryJob, attempt: AttemptAbort): Promise<void> {
    settleMemoryJob(queue, job, await processStart(toStartedJob(job), attempt));
    running.end(job.jobId, attempt);
    wake();
    onSettled();
  }

  return {
    wake,
    nextStartAt,
    isBusy: () => running.size > 0 || canStart(),
    takeNoMore: () => {
      isStopping = true;
      clearTimeout(timer);
    },
    cancel: (jobId) => void running.abort(jobId, "cancelled"),
    interrupt: () => running.abortAll("interrupted"),
  };
}

function toStartedJob(job: MemoryJob): StartedJob {
  return {
    jobId: job.jobId,
    action: job.action,
    data: JSON.parse(job.envelope),
    createdAt: new Date(job.createdAt),
    runnableAt: job.runnableAt,
    attemptsMade: job.attemptsMade,
    attemptsAllowed: job.attemptsAllowed,
    starts: job.starts,
    replays: job.replays,
    progress: async (percent) => {
      job.progress = JSON.stringify(percent);
    },
    note: async (line) => {
      job.notes.push(line);
      if (job.notes.length > mostNotes) job.notes.shift();
    },
  };
}
