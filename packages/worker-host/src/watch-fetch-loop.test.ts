import { createLogger } from "@millrace/logger";
import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { silent, useQueue } from "../test/use-queue.ts";
import { ScreenedWorker } from "./screened-worker.ts";
import { startWorker } from "./start-worker.ts";
import { answers } from "./stop-worker.ts";
import { type WatchedLoop, watchFetchLoop } from "./watch-fetch-loop.ts";
import { createWorkerClock } from "./worker-clock.ts";

const contract = defineQueue("default", { run: { data: z.object({}) } });
const { prefix, work, add } = useQueue(contract);
const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** A watch over a loop that stands still unless told otherwise, and how often it looked so far. */
function watch(loop: Partial<WatchedLoop>) {
  let looks = 0;
  const { turns = () => 7, mayStand = () => false, redisAnswers = async () => true } = loop;
  const counted = () => {
    looks += 1;
    return turns();
  };
  const watched = watchFetchLoop({ turns: counted, mayStand, redisAnswers }, 2);
  open.push(watched);
  return { watched, untilLooked: (times: number) => expect.poll(() => looks, { interval: 1 }).toBeGreaterThan(times) };
}

test("a loop that stands still though Redis answers and there is room is wedged, at the fourth look and not before", async () => {
  let asked = 0;
  const { watched, untilLooked } = watch({
    redisAnswers: async () => {
      asked += 1;
      expect(watched.isWedged()).toBe(asked > 4);
      return true;
    },
  });
  await untilLooked(6);
  expect(watched.isWedged()).toBe(true);
});

let turns = 0;
test.each<[string, Partial<WatchedLoop>]>([
  ["turns", { turns: () => turns++ }],
  ["stands because every place is taken", { mayStand: () => true }],
  ["stands because Redis is away", { redisAnswers: async () => false }],
])("a loop that %s is not wedged", async (_, loop) => {
  const { watched, untilLooked } = watch(loop);
  await untilLooked(8);
  expect(watched.isWedged()).toBe(false);
});

test("a loop that turns again after it stood is not wedged any more", async () => {
  let isTurning = false;
  let turn = 0;
  const { watched } = watch({ turns: () => (isTurning ? turn++ : turn) });
  await expect.poll(() => watched.isWedged(), { interval: 1 }).toBe(true);
  isTurning = true;
  await expect.poll(() => watched.isWedged(), { interval: 1 }).toBe(false);
});

test("a real worker's loop turns while its queue is empty, and is wedged when its wait for a job never ends", async () => {
  const connection = getRedisConnection("worker");
  const clock = createWorkerClock(() => worker.getBackend().client, createLogger({ level: "silent" }));
  const options = { connection, prefix, drainDelay: 0.02 };
  const worker: ScreenedWorker = new ScreenedWorker("default", async () => {}, options, clock);
  await worker.waitUntilReady();
  const watched = watchFetchLoop(
    { turns: () => worker.fetchTurns, mayStand: () => false, redisAnswers: () => answers(worker) },
    250,
  );
  open.push(watched);
  const before = worker.fetchTurns;
  await expect.poll(() => worker.fetchTurns).toBeGreaterThan(before + 10);
  expect(watched.isWedged()).toBe(false);
  // As a blocking read that never settles.
  worker.getBackend().waitForJob = () => new Promise(() => {});
  await expect.poll(() => watched.isWedged(), { timeout: 10_000 }).toBe(true);
  worker.close(true).catch(() => {});
  await worker.letGo();
});

test("a worker that asks for no job is wedged where it has room; where it has none, or has not begun, it may stand", async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const run = async () => {
    started.resolve();
    await release.promise;
  };
  const settings = { concurrency: 1, lookEveryMs: 5 };
  const full = await work({ run }, settings);
  // At so many looks the loop of an idle queue, which waits for a job for seconds, stands.
  await expect.poll(() => full.isWedged()).toBe(true);
  await add("run", {});
  await started.promise;
  const prepare = () => new Promise<never>(() => {});
  const connection = getRedisConnection("worker");
  const unbegun = startWorker(contract, { run }, { ...settings, connection, prefix, log: silent, prepare });
  const idle = await work({ run }, { ...settings, lookEveryMs: 50 });
  // Four of its looks are forty of the others.
  await expect.poll(() => idle.isWedged()).toBe(true);
  expect([full.isWedged(), unbegun.isWedged()]).toEqual([false, false]);
  release.resolve();
  await unbegun.stop(0);
});

test("a worker with a rate limit may stand for as long as one of its jobs runs, though it has room for others", async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const run = async () => {
    started.resolve();
    await release.promise;
  };
  const limited = defineQueue("default", contract.actions, { rateLimit: { max: 1_000, durationMs: 1_000 } });
  const worker = await work({ run }, { concurrency: 5, lookEveryMs: 5 }, limited);
  await add("run", {});
  await started.promise;
  const idle = await work({ run }, { concurrency: 1, lookEveryMs: 50 });
  await expect.poll(() => idle.isWedged()).toBe(true);
  expect(worker.isWedged()).toBe(false);
  release.resolve();
});
