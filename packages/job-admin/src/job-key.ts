import { type QueueName, queueNames } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";

/**
 * Whether a job may live under this id. The queue's own keys (`meta`, `wait`) and a job's side keys (`<id>:logs`) lie beside the jobs;
 * only a scheduler's job has colons in its id.
 */
export function isJobKey(queue: Queue, jobId: string): boolean {
  return !Object.hasOwn(queue.keys, jobId) && /^(?:[^:]+|repeat:.+:\d+)$/.test(jobId);
}

/**
 * Whose record a key is. In a flow, BullMQ names jobs by their keys: `<prefix>:<queue>:<id>`.
 *
 * @returns nothing where prefix or queue are not ours
 */
export function parseJobKey(prefix: string, key: string): { queue: QueueName; jobId: string } | undefined {
  if (!key.startsWith(`${prefix}:`)) return undefined;
  const [queue, ...id] = key.slice(prefix.length + 1).split(":");
  const name = queueNames.safeParse(queue);
  return name.success && id.length > 0 ? { queue: name.data, jobId: id.join(":") } : undefined;
}
