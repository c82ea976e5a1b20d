import { redisConnectionOptions } from "@millrace/redis";
import { defaultWorkerOptions } from "@millrace/worker-config";
import { contracts, defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { silent } from "../test/use-queue.ts";
import { checkWorkerOptions, WorkerOptionsError } from "./check-worker-options.ts";
import { startWorker } from "./start-worker.ts";

const data = z.object({});
const sound = { lockDurationMs: 30_000, stalledIntervalMs: 15_000, shutdownGraceMs: 35_000 };
const contract = defineQueue("default", { run: { data, timeout: 30_000 } });

test.each([
  [
    "a lock shorter than a pause may be",
    { lockDurationMs: 500, stalledIntervalMs: 100 },
    /lock duration \(WORKER_LOCK_DURATION_MS\) from 1000/,
  ],
  ["a lock that hides a dead worker for long", { lockDurationMs: 3_600_000 }, /nobody notices a dead worker/],
  [
    "a check for stalled jobs that comes later than the lock ends",
    { stalledIntervalMs: 30_001 },
    /at most the lock duration \(30000 ms\), got 30001/,
  ],
  ["no time at all", { stalledIntervalMs: Number.NaN }, /got NaN/],
  [
    "less grace than an action may take",
    { shutdownGraceMs: 10_000 },
    /default\.run may run for 30000 ms, but a shutdown gives it 10000 ms/,
  ],
])("%s is refused with a sentence", (_, times, sentence) => {
  expect(() => checkWorkerOptions(contract, { ...sound, ...times })).toThrow(sentence);
});

test("a worker that is started without a process of its own refuses such times as well", async () => {
  const settings = {
    connection: redisConnectionOptions("worker", "redis://127.0.0.1"),
    prefix: "{never-connected}",
    concurrency: 1,
    log: silent,
  };
  const start = () => startWorker(contract, { run: async () => {} }, { ...settings, lockDurationMs: 10 });
  expect(start).toThrow(WorkerOptionsError);
});

test("an action that may begin anew may take longer than the grace", () => {
  const long = (interruptible: boolean) => defineQueue("default", { run: { data, timeout: 600_000, interruptible } });
  expect(() => checkWorkerOptions(long(false), sound)).toThrow("declare the action interruptible");
  expect(() => checkWorkerOptions(long(true), sound)).not.toThrow();
});

test.each(Object.values(contracts))("the defaults fit the contract of $name", (shipped) => {
  const { lockDuration, stalledInterval } = defaultWorkerOptions;
  const times = { ...sound, lockDurationMs: lockDuration, stalledIntervalMs: stalledInterval };
  expect(() => checkWorkerOptions(shipped, times)).not.toThrow();
});
