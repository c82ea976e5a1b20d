import { closeQueues, emailQueue, queueNames } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, beforeAll, expect, test } from "vitest";
import { putMany } from "../test/many-jobs.ts";
import { watchCommands } from "../test/watch-commands.ts";
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
