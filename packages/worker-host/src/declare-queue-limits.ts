import type { QueueSettings } from "@millrace/worker-config/contracts";
import type { Worker } from "bullmq";

/**
 * Tells the queue how many of its jobs may run at once over all processes: BullMQ keeps that number beside the queue. The contract is its
 * only source, so a number that it no longer names is taken away. A worker's own options carry the rate limit.
 *
 * A Redis that comes back empty has lost the number, and is told it again. One that still has it may have it from a newer worker.
 */
export async function declareQueueLimits(
  worker: Worker<unknown, unknown, string>,
  { concurrency }: QueueSettings,
): Promise<void> {
  const client = await worker.getBackend().client;
  const meta = worker.toKey("meta");
  if (concurrency === undefined) return void (await client.runCommand("hdel", [meta, "concurrency"]));
  client.on("ready", () => client.runCommand("hsetnx", [meta, "concurrency", concurrency]).catch(() => {}));
  await client.runCommand("hset", [meta, "concurrency", concurrency]);
}
