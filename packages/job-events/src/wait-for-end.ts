import type { JobStatus, QueueName } from "@millrace/worker-config/contracts";
import { createBell } from "./bell.ts";
import { hasEnded, type JobSource, recordSource } from "./job-source.ts";

export interface WaitOptions {
  /** How long at most, in milliseconds. */
  readonly waitMs: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
}

// What else happens to a job is no reason to read its record.
const endingEvents: ReadonlySet<string | undefined> = new Set(["completed", "failed", "removed"]);

/** See `JobEventFeed.waitForEnd`. */
export async function waitForEnd(
  { wakeUps, prefix, findJob, pollMs }: JobSource,
  queue: QueueName,
  jobId: string,
  { waitMs, signal }: WaitOptions,
): Promise<JobStatus | undefined> {
  const until = performance.now() + waitMs;
  const bell = createBell();
  const stop = await wakeUps.watch(recordSource(prefix, queue, jobId), (event) => {
    if (endingEvents.has(event)) bell.ring();
  });
  signal.addEventListener("abort", bell.ring);
  try {
    for (;;) {
      const job = await findJob(queue, jobId);
      const leftMs = until - performance.now();
      if (!job || hasEnded(job) || leftMs <= 0 || signal.aborted) return job;
      await bell.sleep(Math.min(leftMs, pollMs));
    }
  } finally {
    signal.removeEventListener("abort", bell.ring);
    stop();
  }
}
