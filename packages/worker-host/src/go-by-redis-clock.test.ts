import { createRedis, createRedisClock, readRedisEnv } from "@millrace/redis";
import { getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { DelayedError, type Job, Queue } from "bullmq";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { ScreenedWorker } from "./screened-worker.ts";

const { QUEUE_PREFIX: prefix } = readQueueEnv();
const connection = getRedisConnection("worker");
const queue = new Queue("default", { connection, prefix });
const redis = createRedis("worker", readRedisEnv().REDIS_URL, () => {});
const workers: ScreenedWorker[] = [];
const minute = 60_000;

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await queue.obliterate({ force: true });
});
afterAll(() => Promise.all([queue.close(), redis.quit()]));

/** Starts a worker whose Redis has another time than its machine, and waits until it looks for jobs. */
async function work(
  redisAheadMs: number,
  run: (job: Job, token?: string) => Promise<unknown>,
  times?: { readonly lockDuration: number; readonly stalledInterval: number },
) {
  const clock = createRedisClock({
    askTime: async () => {
      const [seconds, microseconds] = await redis.time();
      return [Number(seconds) + redisAheadMs / 1_000, microseconds];
    },
    onSkew: () => {},
    onForbidden: () => {},
  });
  await clock.settled();
  const options = { connection, prefix, drainDelay: 5, settings: { backoffStrategy: () => 300 }, ...times };
  const worker = new ScreenedWorker("default", run, options, clock);
  workers.push(worker);
  await expect.poll(() => worker.fetchTurns).toBeGreaterThan(1);
  return worker;
}

/** A job as a producer adds it whose time is Redis'. */
const add = (redisAheadMs: number, delay: number) =>
  queue.add("run", {}, { delay, timestamp: Date.now() + redisAheadMs, attempts: 2, backoff: { type: "custom" } });

test.each([minute, -minute])(
  "Redis' clock is %i ms ahead of a worker's: what is delayed, tried again or put off is neither early nor late",
  async (redisAheadMs) => {
    const starts: number[] = [];
    await work(redisAheadMs, async (job, token) => {
      starts.push(performance.now());
      if (starts.length === 1) throw new Error("tried again");
      if (starts.length > 2) return;
      await job.moveToDelayed(Date.now() + 300, token);
      throw new DelayedError();
    });
    const addedAt = performance.now();
    const { id = "" } = await add(redisAheadMs, 300);
    await expect.poll(() => queue.getJobState(id), { timeout: 5_000 }).toBe("completed");
    const waits = starts.map((at, index) => at - (starts[index - 1] ?? addedAt));
    expect(waits).toHaveLength(3);
    for (const waited of waits) {
      expect(waited).toBeGreaterThan(200);
      expect(waited).toBeLessThan(15_000);
    }
    const job = await queue.getJob(id);
    for (const time of [job?.timestamp, job?.processedOn, job?.finishedOn]) {
      expect(Math.abs((time ?? 0) - redisAheadMs - Date.now())).toBeLessThan(10_000);
    }
  },
);

test("a worker that is behind does not sleep through what is due after the job that it ends", async () => {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  await work(minute, async (job) => job.data.last && resolve());
  const timestamp = Date.now() + minute;
  await queue.add("run", { last: false }, { delay: 200, timestamp });
  const { id = "" } = await queue.add("run", { last: true }, { delay: 600, timestamp });
  const addedAt = performance.now();
  await done;
  expect(performance.now() - addedAt).toBeLessThan(15_000);
  await expect.poll(() => queue.getJobState(id)).toBe("completed");
});

test("a worker that is ahead removes no completed job before its time", async () => {
  await work(-minute, async () => {});
  const keep = { removeOnComplete: { age: 30 }, timestamp: Date.now() - minute };
  const first = await queue.add("run", {}, keep);
  await expect.poll(() => first.getState()).toBe("completed");
  // As it was completed by a worker whose clock is right.
  await redis.zadd(queue.toKey("completed"), Date.now() - minute, first.id ?? "");
  const second = await queue.add("run", {}, keep);
  await expect.poll(() => second.getState()).toBe("completed");
  expect(await first.getState()).toBe("completed");
});

const setBack = () => {
  const { now } = Date;
  vi.spyOn(Date, "now").mockImplementation(() => now() - minute);
};

test.each<[what: string, redisAheadMs: number, onStart: () => void]>([
  ["is a minute behind Redis'", minute, () => {}],
  ["is a minute ahead of Redis'", -minute, () => {}],
  ["is set back by a minute while the job runs", 0, setBack],
])("a worker whose clock %s renews the lock of a job that takes longer", async (_, redisAheadMs, onStart) => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const run = async () => {
    started.resolve();
    await release.promise;
  };
  await work(redisAheadMs, run, { lockDuration: 1_500, stalledInterval: 750 });
  const { id = "" } = await add(redisAheadMs, 0);
  await started.promise;
  onStart();
  let renewals = 0;
  let leftMs = 0;
  const countRenewals = async () => {
    const nowLeftMs = await redis.pttl(queue.toKey(`${id}:lock`));
    if (nowLeftMs > leftMs) renewals += 1;
    leftMs = nowLeftMs;
    return renewals;
  };
  // The first is the lock's making.
  await expect.poll(countRenewals, { interval: 20, timeout: 5_000 }).toBeGreaterThan(2);
  release.resolve();
  await expect.poll(() => queue.getJobState(id)).toBe("completed");
  expect((await queue.getJob(id))?.attemptsStarted).toBe(1);
});
