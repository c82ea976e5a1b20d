import { createLogger } from "@millrace/logger";
import { createDistributedLock, createRedis, ownKey, readRedisEnv } from "@millrace/redis";
import { closeQueues, enqueue, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { defineQueue, parseJobFailure } from "@millrace/worker-config/contracts";
import { Queue, QueueEvents } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { z } from "zod";
import type { JobContext } from "./job-context.ts";
import { type RunningWorker, startWorker } from "./start-worker.ts";

const contract = defineQueue("default", { run: { data: z.object({}), timeout: 10_000 } });
const prefix = readQueueEnv().QUEUE_PREFIX;
const redis = createRedis("worker", readRedisEnv().REDIS_URL, () => {});
const { runExclusive } = createDistributedLock({ redis, prefix });
const queue = new Queue("default", { connection: getRedisConnection("worker"), prefix });
const events = new QueueEvents("default", { connection: getRedisConnection("events"), prefix });
let worker: RunningWorker | undefined;

async function work(run: (context: JobContext) => Promise<void>): Promise<void> {
  await events.waitUntilReady();
  const options = { connection: getRedisConnection("worker"), prefix, concurrency: 2 };
  worker = startWorker(
    contract,
    { run: (_, context) => run(context) },
    { ...options, log: createLogger({ level: "silent" }) },
  );
  await worker.untilReady();
}

/** Adds a job that has one attempt, waits for its end, and returns it as stored. */
async function finished() {
  const { jobId } = await enqueue(contract, "run", {}, { attempts: 1 });
  const job = await queue.getJob(jobId);
  await job?.waitUntilFinished(events, 15_000).catch(() => {});
  return queue.getJob(jobId);
}

afterEach(async () => {
  await worker?.stop(0);
});
afterAll(async () => {
  await Promise.all([closeQueues(), events.close(), queue.close()]);
  redis.disconnect();
});

test("a job that finds its lock held is deferred without using up its one attempt, and runs when the lock is free", async () => {
  const refused = Promise.withResolvers<void>();
  let inside = 0;
  let starts = 0;
  await work(async ({ signal }) => {
    starts += 1;
    const fn = async () => {
      inside += 1;
      expect(inside).toBe(1);
      await refused.promise;
      inside -= 1;
    };
    const call = runExclusive({ key: "one at a time", timeoutInSeconds: 20, retryAfterMs: 20, signal, fn });
    await call.catch((error) => {
      refused.resolve();
      throw error;
    });
  });
  const jobs = await Promise.all([finished(), finished()]);
  for (const job of jobs) expect([await job?.getState(), job?.attemptsMade]).toEqual(["completed", 1]);
  expect(starts).toBeGreaterThan(2);
});

test("a job that loses its lock while it runs has failed an attempt, with the lock's own code", async () => {
  await work(async ({ signal }) => {
    const fn = async (exclusive: { signal: AbortSignal }) => {
      await redis.del(ownKey(prefix, "lock", "taken away"));
      await new Promise((resolve) => exclusive.signal.addEventListener("abort", resolve, { once: true }));
    };
    await runExclusive({ key: "taken away", timeoutInSeconds: 0.9, signal, fn });
  });
  const job = await finished();
  expect([await job?.getState(), job?.attemptsMade]).toEqual(["failed", 1]);
  expect(parseJobFailure(job?.failedReason ?? "").code).toBe("exclusive_lock_lost");
});
