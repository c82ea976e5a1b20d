import { askQueue, contracts, queueNames } from "@millrace/worker-config";
import { z } from "zod";
import { cancelJob } from "./cancel-job.ts";

const idsSchema = z.array(z.string());
const maxPerQueue = 1_000;

/**
 * Calls off parents that have waited for their children for too long: a child that failed without a word to its parent leaves it waiting for
 * ever. Each is `cancelled` then, with the children that are left, and goes with the purge of dead letters. The oldest thousand of each queue.
 *
 * @param signal ends it between two parents
 * @returns how many were called off
 * @throws QueueUnavailableError when Redis does not answer; those that have been called off stay so
 */
export async function cancelStuckParents(olderThanMs: number, signal?: AbortSignal): Promise<number> {
  const until = Date.now() - olderThanMs;
  let total = 0;
  for (const queue of queueNames.options) {
    const ids = await askQueue(contracts[queue], async (opened) => {
      const client = await opened.getBackend().client;
      const range = [opened.toKey("waiting-children"), "-inf", until, "LIMIT", 0, maxPerQueue];
      return idsSchema.parse(await client.runCommand("zrangebyscore", range));
    });
    for (const id of ids) {
      if (signal?.aborted) return total;
      const { outcome } = await cancelJob(queue, id);
      if (outcome === "cancelled") total += 1;
    }
  }
  return total;
}
