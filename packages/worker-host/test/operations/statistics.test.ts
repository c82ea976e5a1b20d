import { cancelJob, readStats } from "@millrace/job-admin";
import { createRedis, readRedisEnv } from "@millrace/redis";
import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { createOutcomeCount } from "../../src/count-outcomes.ts";
import { PermanentError, SkippedError } from "../../src/job-error.ts";
import { keepStatistics } from "../../src/keep-statistics.ts";
import { reportWorker } from "../../src/report-worker.ts";
import { countCommands } from "../count-commands.ts";
import { silent, useQueue } from "../use-queue.ts";

const end = z.enum(["well", "skip", "fail", "retry", "late"]);
const contract = defineQueue("default", { run: { data: z.object({ end }) } });
const { prefix, work, add, ended } = useQueue(contract);

test("statistics tell each status apart, follow a job that goes on, and hold times and throughput", async () => {
  const isMended = Promise.withResolvers<void>();
  const run = async ({ end }: { end: string }, { attempt }: { attempt: number }) => {
    if (end === "skip") throw new SkippedError("nothing to do", { code: "nothing_to_do" });
    if (end === "fail") throw new PermanentError("no");
    if (end === "retry" || (end === "late" && attempt === 1)) throw new Error("not yet");
    if (end === "late") await isMended.promise;
  };
  const outcomes = createOutcomeCount();
  const worker = await work({ run }, { observers: [outcomes] });
  const report = reportWorker(
    { queue: "default", concurrency: 5, version: "1", outcomes, jobs: worker.jobs },
    { connection: getRedisConnection("worker"), prefix, log: silent },
  );
  const scheduled = { delayMs: 60_000 };
  await cancelJob("default", await add("run", { end: "well" }, scheduled));
  await add("run", { end: "well" }, scheduled);
  for (const end of ["well", "well", "skip", "fail"]) await add("run", { end });
  await add("run", { end: "retry" }, { retryIntervalsMs: [60_000] });
  const late = await add("run", { end: "late" });

  const read = async () => (await readStats(["default"])).queues[0];
  await expect
    .poll(read, { timeout: 10_000 })
    .toMatchObject({ pending: 1, running: 1, retrying: 1, success: 2, skipped: 1, failed: 1, cancelled: 1, total: 8 });
  isMended.resolve();
  await ended(late);
  await expect.poll(read, { timeout: 10_000 }).toMatchObject({
    ...{ running: 0, retrying: 1, success: 3, queueSize: 2, deadLetters: 1, total: 8 },
    throughput: { lastHour: 6 },
    ended: { success: 3, skipped: 1, failed: 1, cancelled: 1, retry: 2 },
    wait: { count: 6 },
    run: { count: 7 },
  });
  const { run: times, throughput } = (await readStats(["default"])).total;
  expect(throughput.lastMinute).toBeGreaterThan(0);
  expect(times.p50Ms).toBeLessThanOrEqual(times.p99Ms ?? 0);
  expect(times.p99Ms).toBeGreaterThan(100);
  await report.close();
});

test("what became of a thousand jobs is kept by one command", async () => {
  const outcomes = createOutcomeCount();
  const start = { queue: "default", action: "run", attempt: 1, code: null, waitMs: 5, durationMs: 7 };
  for (let job = 0; job < 1_000; job++) outcomes.settled({ ...start, jobId: `${job}`, outcome: "completed" });
  const counted = outcomes.take(false);
  const redis = createRedis("worker", readRedisEnv().REDIS_URL, () => {});
  await redis.ping();
  const before = (await readStats(["default"])).total.ended.success;
  expect(await countCommands(async () => counted && keepStatistics(redis, prefix, "default", counted))).toBe(1);
  expect((await readStats(["default"])).total.ended.success).toBe(before + 1_000);
  expect(outcomes.take(false)).toBeUndefined();
  redis.disconnect();
});
