import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { startNetwork } from "../test/network.ts";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";
import { PermanentError, RateLimitedError } from "./job-error.ts";
import type { RunningWorker } from "./start-worker.ts";

const contract = defineQueue("default", {
  run: { data: z.object({}), result: z.object({ attempt: z.number() }), timeout: 10_000 },
});
const { raw, work, add, stored, ended } = useQueue(contract);

/** Says when it was started and when it was aborted, and ignores both its signal and the time. */
function stubborn() {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const run = async (_: unknown, { signal }: JobContext) => {
    started.resolve();
    signal.addEventListener("abort", () => aborted.resolve(signal.reason));
    return new Promise<never>(() => {});
  };
  return { started: started.promise, aborted: aborted.promise, run };
}

test("a stop whose time is over aborts the signal and hands the job back, at the head and without using up an attempt", async () => {
  const { started, aborted, run } = stubborn();
  const worker = await work({ run });
  const jobId = await add("run", {}, { attempts: 1 });
  await started;
  expect(await worker.stop(1)).toBe(false);
  expect(await aborted).toMatchObject({ message: "The worker shuts down." });
  const job = await stored(jobId);
  expect([await job.getState(), job.attemptsMade, job.stalledCounter]).toEqual(["waiting", 0, 0]);
  await work({ run: async (_, { attempt }) => ({ attempt }) });
  expect((await ended(jobId)).returnvalue).toEqual({ attempt: 1 });
});

test("a healthy job survives five deploys that each cut it short, and then has its first attempt", async () => {
  const jobId = await add("run", {}, { attempts: 1 });
  for (let deploy = 1; deploy <= 5; deploy++) {
    const { started, run } = stubborn();
    const worker = await work({ run });
    await started;
    await worker.stop(1);
  }
  await work({ run: async (_, { attempt }) => ({ attempt }) });
  const job = await ended(jobId);
  expect([job.returnvalue, job.attemptsMade, job.stalledCounter]).toEqual([{ attempt: 1 }, 1, 0]);
});

/** How long a stop with a long grace takes. */
async function stopTime(worker: RunningWorker): Promise<number> {
  const startedAt = performance.now();
  expect(await worker.stop(20_000)).toBe(true);
  return performance.now() - startedAt;
}

test("a stop without a job in hand ends at once although Redis does not answer, and holds no connection open", async () => {
  const network = await startNetwork(getRedisConnection("worker"));
  const behindNetwork = { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port };
  const worker = await work({ run: async (_, { attempt }) => ({ attempt }) }, { connection: behindNetwork });
  network.freeze();
  expect(await stopTime(worker)).toBeLessThan(2_500);
  await expect.poll(() => network.connections()).toBe(0);
  network.close();
});

test("a stop waits for no job that is recorded already, where Redis went away before the next one was fetched", async () => {
  const network = await startNetwork(getRedisConnection("worker"));
  const behindNetwork = { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port };
  const deferred = await add("run", {});
  const next = await add("run", {}, { jobId: "never-arrives" });
  const held = network.holdReplyWith(next);
  const slowDown = async () => Promise.reject(new RateLimitedError("slow down", { retryAfterMs: 60_000 }));
  const worker = await work({ run: slowDown }, { connection: behindNetwork, concurrency: 1 });
  await held;
  expect(await raw.getJobState(deferred)).toBe("delayed");
  network.cut();
  await expect.poll(() => worker.isReady()).toBe(false);
  expect(await stopTime(worker)).toBeLessThan(2_500);
  network.close();
});

test.each([
  [1, false],
  [20_000, true],
])(
  "a job that was done when Redis went away is recorded when it is back, and the stop that waited for it ends (%s ms)",
  async (graceMs, isInTime) => {
    const network = await startNetwork(getRedisConnection("worker"));
    const behindNetwork = { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port };
    let runs = 0;
    const done = Promise.withResolvers<void>();
    const run = async (_: unknown, { attempt }: JobContext) => {
      runs += 1;
      network.cut();
      done.resolve();
      return { attempt };
    };
    const worker = await work({ run }, { connection: behindNetwork });
    const jobId = await add("run", {});
    await done.promise;
    await expect.poll(() => worker.isReady()).toBe(false);
    const stopped = worker.stop(graceMs);
    network.mend();
    const job = await ended(jobId);
    expect([job.returnvalue, job.stalledCounter, runs]).toEqual([{ attempt: 1 }, 0, 1]);
    const recordedAt = performance.now();
    expect(await stopped).toBe(isInTime);
    expect(performance.now() - recordedAt).toBeLessThan(2_500);
    network.close();
  },
);

test("a job that failed for good while Redis was away is one dead letter when it is back, and ran once", async () => {
  const network = await startNetwork(getRedisConnection("worker"));
  const behindNetwork = { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port };
  let runs = 0;
  const done = Promise.withResolvers<void>();
  const run = async () => {
    runs += 1;
    network.cut();
    done.resolve();
    throw new PermanentError("no", { code: "refused" });
  };
  const worker = await work({ run }, { connection: behindNetwork });
  const jobId = await add("run", {}, { attempts: 3 });
  await done.promise;
  await expect.poll(() => worker.isReady()).toBe(false);
  network.mend();
  const job = await ended(jobId);
  expect([await job.getState(), job.failedReason, job.attemptsMade, runs]).toEqual(["failed", "[refused] no", 1, 1]);
  expect(await raw.getFailedCount()).toBe(1);
  await worker.stop(20_000);
  network.close();
});
