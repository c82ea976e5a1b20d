import { closeQueues, emailQueue, queueNames } from "@millrace/worker-config";
import { bucketOf } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { afterAll, beforeAll, expect, test } from "vitest";
import { putMany } from "../test/many-jobs.ts";
import { watchCommands } from "../test/watch-commands.ts";
import { statisticsKey } from "./read-queue-counts.ts";
import { readStats } from "./read-stats.ts";

// The same queue under wider types.
const email: Queue = emailQueue;

let jobs = 0;

beforeAll(async () => {
  jobs = await putMany(email);
});
afterAll(async () => {
  await email.obliterate({ force: true });
  await closeQueues();
});

test("statistics of many jobs count them all, and know how long the oldest waits", async () => {
  const { queues, total } = await readStats();
  expect(queues.map(({ queue }) => queue)).toEqual(queueNames.options);
  const share = (tenths: number) => (jobs / 10) * tenths;
  const counts = {
    pending: share(6),
    running: 0,
    success: share(3),
    failed: share(1),
    total: jobs,
    queueSize: share(6),
  };
  expect(queues[0]).toMatchObject({ queue: "email", isPaused: false, ...counts });
  expect(total).toMatchObject(counts);
  expect(total.oldestWaitingMs).toBeGreaterThanOrEqual(jobs);
  expect(queues[1]).toMatchObject({ total: 0, oldestWaitingMs: null, wait: { count: 0, p99Ms: null }, since: null });
});

test("they cost one command per queue, and none within it that looks at all jobs", async () => {
  const commands = await watchCommands(() => readStats(["email", "webhook"]));
  const sent = commands.filter(({ isOfScript }) => !isOfScript);
  expect(sent.map(({ name }) => name.replace("evalsha", "eval"))).toEqual(["eval", "eval"]);
  // Of these the cost does not grow with what a key holds, or only with what is asked for.
  const cheap = /^(time|llen|zcard|hlen|hexists|hmget|zscore|hgetall|zremrangebyscore|zrem)$/;
  const ranges = commands.filter(({ isOfScript, name }) => isOfScript && !cheap.test(name));
  for (const { name, args } of ranges) {
    const [, from, to] = args;
    const isBounded = name === "zrangebyscore" ? args.includes("LIMIT") : Math.abs(Number(to) - Number(from)) < 1_000;
    expect(isBounded, `${name} ${args.join(" ")}`).toBe(true);
  }
});

/** What is exact: the smallest time that the share of all does not exceed. */
const exact = (sorted: readonly number[], share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;

test.each([
  ["all alike, however short or long", [1, 2, 5, 8, 13, 999, 86_400_000].map((ms) => [ms])],
  ["even", [Array.from({ length: 1_000 }, (_, index) => index + 1)]],
  ["a long tail", [Array.from({ length: 5_000 }, (_, index) => 20 * Math.exp(((index + 0.5) / 5_000) ** 8 * 9))]],
  ["two humps", [[...Array.from({ length: 960 }, () => 12), ...Array.from({ length: 40 }, () => 30_000)]]],
])("percentiles of times that are %s are true to a tenth", async (_, samples) => {
  const client = await email.getBackend().client;
  const key = statisticsKey("quota");
  for (const sorted of samples) {
    const fields: Record<string, number> = { "run:sum": sorted.reduce((sum, ms) => sum + ms, 0) };
    for (const ms of sorted) fields[`run:${bucketOf(ms)}`] = (fields[`run:${bucketOf(ms)}`] ?? 0) + 1;
    const hour = `${key}:${Math.floor(Date.now() / 3_600_000)}`;
    await client.hset(hour, fields);
    const { run } = (await readStats(["quota"])).total;
    await client.del(hour);
    expect(run.count).toBe(sorted.length);
    for (const [share, told] of [
      [0.5, run.p50Ms],
      [0.95, run.p95Ms],
      [0.99, run.p99Ms],
    ] as const) {
      const ms = exact(sorted, share);
      expect(
        Math.abs((told ?? 0) - ms) / ms,
        `${share} of times up to ${sorted.at(-1)}: ${told}, exactly ${ms}`,
      ).toBeLessThan(0.1);
    }
  }
});
