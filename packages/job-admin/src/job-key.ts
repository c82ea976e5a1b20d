import type { Queue } from "bullmq";

/**
 * Whether a job may live under this id. The queue's own keys (`meta`, `wait`) and a job's side keys (`<id>:logs`) lie beside the jobs;
 * only a scheduler's job has colons in its id.
 */
export function isJobKey(queue: Queue, jobId: string): boolean {
  return !Object.hasOwn(queue.keys, jobId) && /^(?:[^:]+|repeat:.+:\d+)$/.test(jobId);
}
