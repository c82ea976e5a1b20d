import { ownKey } from "@millrace/redis";
import { queues, readQueueEnv } from "@millrace/worker-config";
import type { QueueName } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";

export interface QuarantinedTestJob {
  readonly jobId: string;
  readonly reason?: "corrupt" | "evicted";
  readonly quarantinedAt?: number;
  readonly fields?: Record<string, string>;
}

/** Puts a job into quarantine as the worker host does. An id alone becomes an entry that nobody can read. */
export async function putIntoQuarantine(name: QueueName, job: QuarantinedTestJob | string): Promise<void> {
  const key = ownKey(readQueueEnv().QUEUE_PREFIX, "quarantine", name);
  const queue: Queue = queues[name];
  const client = await queue.getBackend().client;
  if (typeof job === "string") {
    await client.hset(key, { [job]: "{" });
    return;
  }
  const entry = { reason: "corrupt", quarantinedAt: Date.now(), fields: {}, ...job };
  await client.hset(key, { [job.jobId]: JSON.stringify(entry) });
}
