import { monitorEventLoopDelay } from "node:perf_hooks";
import { cancelJob } from "@millrace/job-admin";
import { createLogger } from "@millrace/logger";
import { closeQueues, enqueue, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { type RunningWorker, startWorker } from "@millrace/worker-host";
import { Queue } from "bullmq";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openTaskPool } from "./task-pool.ts";
import type { TestTasks } from "./tasks/test/test-thread.ts";

const contract = defineQueue("heavy", {
  spin: { data: z.object({ forMs: z.int() }), timeout: 60_000, interruptible: true },
  quick: { data: z.object({}) },
});
/** Three lives of the lock; MILLRACE_SPIN_MS=10000 for a longer look. */
const spinMs = Number(process.env.MILLRACE_SPIN_MS ?? 3_000);
const log = createLogger({ level: "silent" });
const prefix = readQueueEnv().QUEUE_PREFIX;
const raw = new Queue(contract.name, { connection: getRedisConnection("worker"), prefix });
const pool = openTaskPool<TestTasks>({
  threadFile: new URL("./tasks/test/test-thread.ts", import.meta.url),
  threads: 2,
  memoryMb: 64,
  log,
});
const workers: RunningWorker[] = [];
const starts: string[] = [];
const isSpinning = Promise.withResolvers<string>();
const beats = new Int32Array(new SharedArrayBuffer(4));

beforeAll(async () => {
  const handlers = {
    spin: async ({ forMs }: { forMs: number }, { jobId, signal }: { jobId: string; signal: AbortSignal }) => {
      starts.push(jobId);
      const progress = async () => isSpinning.resolve(jobId);
      await pool.run("spin", { forMs, beats }, { signal, progress });
    },
    quick: async () => {},
  };
  // The second one would take up a job whose lock was lost.
  for (const concurrency of [2, 1]) {
    const connection = getRedisConnection("worker");
    const times = { lockDurationMs: 1_000, stalledIntervalMs: 500 };
    workers.push(startWorker(contract, handlers, { connection, prefix, concurrency, log, ...times }));
  }
  await Promise.all(workers.map((worker) => worker.untilReady()));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  await raw.obliterate({ force: true });
  await Promise.all([raw.close(), closeQueues(), pool.close()]);
});

const stateOf = async (jobId: string) => (await raw.getJob(jobId))?.getState();

test(
  "work of three times the lock's life runs once, and jobs beside it wait no tenth of a second",
  async () => {
    const loop = monitorEventLoopDelay({ resolution: 5 });
    const { jobId } = await enqueue(contract, "spin", { forMs: spinMs });
    const waits: number[] = [];
    expect(await isSpinning.promise).toBe(jobId);
    loop.enable();
    while ((await stateOf(jobId)) === "active") {
      const quick = await enqueue(contract, "quick", {});
      await expect.poll(() => stateOf(quick.jobId), { timeout: 2_000, interval: 20 }).toBe("completed");
      const { timestamp = 0, finishedOn = Number.NaN } = (await raw.getJob(quick.jobId)) ?? {};
      waits.push(finishedOn - timestamp);
    }
    loop.disable();
    expect(await stateOf(jobId)).toBe("completed");
    expect(starts).toEqual([jobId]);
    // From its enqueue to its end, by the clock of this machine. One or the other waits for the machine itself.
    expect(waits.length).toBeGreaterThan(5);
    expect(waits.sort((one, other) => one - other)[Math.floor(waits.length / 2)]).toBeLessThan(100);
    // A busy machine makes a pause longer now and then; the work itself, were it here, would be one of three seconds.
    expect(loop.percentile(90) / 1e6).toBeLessThan(100);
    expect(loop.max / 1e6).toBeLessThan(1_000);
  },
  spinMs + 10_000,
);

test("a job that is called off from elsewhere stops working within a second", async () => {
  const { jobId } = await enqueue(contract, "spin", { forMs: 60_000 });
  const before = Atomics.load(beats, 0);
  await expect.poll(() => Atomics.load(beats, 0), { interval: 20 }).toBeGreaterThan(before);
  const cancelledAt = performance.now();
  expect(await cancelJob("heavy", jobId)).toMatchObject({ outcome: "cancelling" });
  let last = 0;
  const isStill = () => {
    const earlier = last;
    last = Atomics.load(beats, 0);
    return last === earlier;
  };
  await expect.poll(isStill, { timeout: 5_000, interval: 20 }).toBe(true);
  expect(performance.now() - cancelledAt).toBeLessThan(1_000);
  await expect.poll(() => stateOf(jobId), { timeout: 5_000 }).toBe("failed");
});
