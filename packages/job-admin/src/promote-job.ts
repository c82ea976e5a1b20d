import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { z } from "zod";
import { isJobKey } from "./job-key.ts";
import { findMissing } from "./quarantine-entry.ts";

export const promoteOutcomes = z.enum(["promoted", "unknown", "quarantined", "not_delayed"]);

/**
 * - `promoted`: it waits for a worker now.
 * - `unknown`: the queue holds no such job (any more).
 * - `quarantined`: a worker took it out of its queue, because its record was damaged.
 * - `not_delayed`: it waits for a worker already, or for its children, runs, or has ended.
 */
export type PromoteOutcome = z.infer<typeof promoteOutcomes>;

/**
 * Lets a job run now that waits for its time: delayed, deferred, or between two attempts.
 *
 * @throws QueueUnavailableError when Redis does not answer; asking again is safe
 */
export async function promoteJob(queue: QueueName, jobId: string): Promise<PromoteOutcome> {
  return askQueue(contracts[queue], async (opened) => {
    if (!isJobKey(opened, jobId)) return "unknown";
    try {
      await opened.getBackend().promote(jobId);
      return "promoted";
    } catch (error) {
      // BullMQ's number for a job that is not among the delayed.
      if (!(error instanceof Error && "code" in error && error.code === -3)) throw error;
    }
    const client = await opened.getBackend().client;
    const isThere = (await client.runCommand("exists", [opened.toKey(jobId)])) === 1;
    return isThere ? "not_delayed" : findMissing(opened, queue, jobId);
  });
}
