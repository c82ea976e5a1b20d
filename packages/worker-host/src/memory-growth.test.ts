import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import { PermanentError, RateLimitedError } from "./job-error.ts";

const data = z.object({ number: z.number() });
const contract = defineQueue(
  "default",
  {
    complete: { data },
    retry: { data },
    defer: { data },
    once: { data, idempotencyKey: ({ number }) => String(number), idempotencyLifetimeMs: 60_000 },
    skip: { data, idempotencyKey: () => "same" },
    fail: { data },
  },
  { concurrency: 50, rateLimit: { max: 100_000, durationMs: 1_000 } },
);
const { prefix, raw, work, add, ended } = useQueue(contract);
const jobsPerAction = 25;
const maxEvents = 200;
const keptJobs = 10;

async function redis(command: string, ...parameters: (string | number)[]) {
  return (await raw.getBackend().client).runCommand(command, parameters);
}

/**
 * How many keys under the prefix have no lifetime: nothing but a job's end, retention or a person removes them. Without the queue's own
 * lists, which come and go with what is in them, and of which there is a fixed number.
 */
async function lastingKeys(): Promise<number> {
  const script = `
    local lasting = {}
    for _, key in ipairs(redis.call("KEYS", "*")) do
      if string.sub(key, 1, #ARGV[1]) == ARGV[1] and redis.call("PTTL", key) == -1 then table.insert(lasting, key) end
    end
    return lasting`;
  const lasting: string[] = await redis("eval", script, 0, prefix);
  const own = new Set(Object.values(raw.keys));
  return lasting.filter((key) => !own.has(key)).length;
}

async function runAll(from: number): Promise<void> {
  const actions = ["complete", "retry", "defer", "once", "skip", "fail"] as const;
  for (const action of actions) {
    const opts = { attempts: 2, backoff: { type: "fixed", delay: 1 }, removeOnComplete: { count: keptJobs } };
    const numbers = Array.from({ length: jobsPerAction }, (_, index) => from + index);
    await raw.addBulk(numbers.map((number) => ({ name: action, data: { type: action, data: { number } }, opts })));
  }
  const left = async () => raw.getJobCountByTypes("waiting", "active", "delayed");
  await expect.poll(left, { timeout: 25_000, interval: 100 }).toBe(0);
}

test("after many jobs of every outcome Redis holds what it held before, the dead letters, and what has a lifetime", async () => {
  const again = async (_: unknown, { attempt, jobId }: { attempt: number; jobId: string }) => {
    if (attempt === 1) throw new Error(`${jobId}: not yet`);
  };
  const deferred = new Set<string>();
  const later = async (_: unknown, { jobId }: { jobId: string }) => {
    if (deferred.size === deferred.add(jobId).size) return;
    throw new RateLimitedError("slow down", { retryAfterMs: 1 });
  };
  const fail = async () => Promise.reject(new PermanentError("no"));
  const done = async () => {};
  await work({ complete: done, retry: again, defer: later, once: done, skip: done, fail }, { concurrency: 50 });
  // What a producer sets, lowered below so that fewer jobs reach it.
  const { opts } = await ended(await add("complete", { number: 0 }));
  expect(opts.removeOnComplete).toMatchObject({ count: 100_000 });
  expect(await redis("hget", raw.toKey("meta"), "opts.maxLenEvents")).toBe("10000");
  await redis("hset", raw.toKey("meta"), "opts.maxLenEvents", maxEvents);
  await ended(await add("skip", { number: 0 }));
  await runAll(1);
  const before = await lastingKeys();
  await runAll(1 + jobsPerAction);
  expect(await lastingKeys()).toBe(before + jobsPerAction);
  expect(await raw.getFailedCount()).toBe(2 * jobsPerAction);
  expect(await redis("xlen", raw.toKey("events"))).toBeLessThan(2 * maxEvents);
});
