import { formatJobFailure, type QueueName } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { runWorker, untilJob } from "./run-worker.ts";

/** What a payload holds that no answer may show. */
export const payloadMarker = "MARKER";

export const mailJob = {
  type: "sendEmail",
  data: { to: "ada@example.com", subject: payloadMarker, text: payloadMarker },
} as const;

export interface FailedJob {
  readonly jobId: string;
  readonly failedAtMs?: number;
  readonly code?: string;
  readonly message?: string;
  /** Fields of the record that are another than BullMQ would write. */
  readonly fields?: Record<string, string>;
}

/** Puts jobs into the failed set as BullMQ leaves them there, at moments of the test's choice. */
export async function putFailed(queue: Queue, jobs: readonly FailedJob[]): Promise<void> {
  const client = await queue.getBackend().client;
  const transaction = client.multi();
  for (const { jobId, failedAtMs = Date.now(), code = "smtp_550", message = "no such mailbox", fields } of jobs) {
    transaction.hset(queue.toKey(jobId), {
      name: "sendEmail",
      data: JSON.stringify(mailJob),
      opts: JSON.stringify({ attempts: 3 }),
      timestamp: 1_700_000_000_000,
      delay: 0,
      priority: 0,
      atm: 3,
      ats: 3,
      processedOn: failedAtMs,
      finishedOn: failedAtMs,
      failedReason: formatJobFailure({ code, message }),
      stacktrace: JSON.stringify(["Error: first", `Error: ${message}\n    at here`]),
      ...fields,
    });
    transaction.runCommand("zadd", [queue.toKey("failed"), failedAtMs, jobId]);
  }
  await transaction.exec();
}

/** Lets a job's worker die under it as often as it takes to make it a dead letter. */
export async function stallOut(name: QueueName, jobId: string): Promise<void> {
  // Takes the job and never comes back.
  const lost = await runWorker(name, null, { lockDuration: 50, skipLockRenewal: true });
  const taken = await lost.getNextJob("lost");
  if (taken?.id !== jobId) throw new Error(`expected to take ${jobId}, got ${taken?.id}`);
  const watcher = await runWorker(name, async () => {}, { stalledInterval: 50, maxStalledCount: 0, autorun: false });
  const failed = untilJob(watcher, "failed", jobId);
  // Ends with the worker.
  watcher.run().catch(() => {});
  await failed;
  await Promise.all([lost.close(), watcher.close()]);
}
