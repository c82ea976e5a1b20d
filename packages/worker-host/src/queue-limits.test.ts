import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";

const actions = { run: { data: z.object({}) } };
const limited = defineQueue("default", actions, { rateLimit: { max: 10, durationMs: 200 }, concurrency: 3 });
const unlimited = defineQueue("default", actions);
const { raw, work, add } = useQueue(limited);

test("no more of a queue's jobs run at once than its contract says, over all workers, and all get done", async () => {
  let running = 0;
  let most = 0;
  let done = 0;
  const run = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => setImmediate(resolve));
    running -= 1;
    done += 1;
  };
  const concurrent = defineQueue("default", actions, { concurrency: 3 });
  for (let job = 0; job < 60; job++) await add("run", {});
  await work({ run }, {}, concurrent);
  await work({ run }, {}, concurrent);
  await expect.poll(() => done, { timeout: 10_000 }).toBe(60);
  expect(most).toBeLessThanOrEqual(3);
  expect(await raw.getGlobalConcurrency()).toBe(3);
});

test("in one window of a queue's rate limit exactly so many jobs start as it says, over two workers, and it is no longer", async () => {
  // So long that a slow machine does not come to its end.
  const durationMs = 600_000;
  const rated = defineQueue("default", actions, { rateLimit: { max: 10, durationMs } });
  // However this ends: the other tests are of the same queue.
  onTestFinished(async () => {
    await raw.removeRateLimitKey();
  });
  let starts = 0;
  const run = async () => {
    starts += 1;
  };
  for (let job = 0; job < 30; job++) await add("run", {});
  await work({ run }, {}, rated);
  await work({ run }, {}, rated);
  const leftMs = async () => raw.getRateLimitTtl(10);
  await expect.poll(leftMs).toBeGreaterThan(0);
  expect(await leftMs()).toBeLessThanOrEqual(durationMs);
  expect(await leftMs()).toBeGreaterThan(durationMs / 2);
  await expect.poll(() => raw.getJobCounts("active", "waiting")).toEqual({ active: 0, waiting: 20 });
  expect(starts).toBe(10);
  await raw.drain();
});

test("a queue's rate limit is kept over two workers, and no job is left behind", async () => {
  const rated = defineQueue("default", actions, { rateLimit: { max: 10, durationMs: 200 } });
  const starts: number[] = [];
  const run = async () => {
    starts.push(performance.now());
  };
  for (let job = 0; job < 60; job++) await add("run", {});
  await work({ run }, {}, rated);
  await work({ run }, {}, rated);
  await expect.poll(() => starts.length, { timeout: 20_000, interval: 10 }).toBe(60);
  // Six bursts of ten, so five waits of 200 ms lie between the first start and the last.
  const tookMs = (starts.at(-1) ?? 0) - (starts[0] ?? 0);
  expect(tookMs).toBeGreaterThan(5 * 200 * 0.9);
  expect(await raw.getJobCounts("waiting", "active", "delayed")).toEqual({ waiting: 0, active: 0, delayed: 0 });
});

test("a limit that the contract no longer names is taken away", async () => {
  await work({ run: async () => {} }, {}, limited);
  expect(await raw.getGlobalConcurrency()).toBe(3);
  await work({ run: async () => {} }, {}, unlimited);
  expect(await raw.getGlobalConcurrency()).toBeNull();
});

test.each([
  [{ concurrency: 0 }, "concurrency"],
  [{ concurrency: 1.5 }, "concurrency"],
  [{ rateLimit: { max: Number.NaN, durationMs: 1_000 } }, "rateLimit.max"],
  [{ rateLimit: { max: 10, durationMs: -1 } }, "rateLimit.durationMs"],
])("a limit that is no positive whole number (%j) is refused where it is declared", (settings, field) => {
  expect(() => defineQueue("default", actions, settings)).toThrow(`expected ${field} to be a positive whole number`);
});

test.each([0, -1, 0.5, Number.NaN])("an effect's lifetime of %s is refused where it is declared", (lifetime) => {
  const keyed = { run: { data: z.object({}), idempotencyLifetimeMs: lifetime } };
  expect(() => defineQueue("default", keyed)).toThrow("expected idempotencyLifetimeMs of run to be a positive whole");
});
