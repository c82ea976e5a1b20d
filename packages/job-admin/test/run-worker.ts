import { backoffStrategy, getRedisConnection, type QueueName, readQueueEnv } from "@millrace/worker-config";
import { type Processor, Worker, type WorkerOptions } from "bullmq";

export type TestWorker = Worker<unknown, unknown, string>;

/** A plain BullMQ worker on a queue of the producers. Without a processor it waits to be asked for a job. */
export async function runWorker(
  queue: QueueName,
  processor: Processor<unknown, unknown, string> | null,
  options: Partial<WorkerOptions> = {},
): Promise<TestWorker> {
  const worker: TestWorker = new Worker(queue, processor, {
    connection: getRedisConnection("worker"),
    prefix: readQueueEnv().QUEUE_PREFIX,
    // The producers name this strategy in every job; BullMQ stalls at a name that its worker does not know.
    settings: { backoffStrategy },
    ...options,
  });
  worker.on("error", () => {});
  await worker.waitUntilReady();
  return worker;
}

/** Resolves when the job has reached that end so many times from now on, each failed attempt included: to be asked before it can run. */
export function untilJob(
  worker: TestWorker,
  event: "active" | "completed" | "failed",
  jobId: string,
  times = 1,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  const look = (job: { id?: string | undefined } | undefined) => {
    if (job?.id === jobId) seen += 1;
    if (seen === times) resolve();
  };
  // Each event under its own name, because each has its own listener's type.
  if (event === "active") worker.on("active", look);
  if (event === "completed") worker.on("completed", look);
  if (event === "failed") worker.on("failed", look);
  return promise;
}
