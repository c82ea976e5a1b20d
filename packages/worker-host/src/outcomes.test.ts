import { createLogger } from "@millrace/logger";
import { defaultJobOptions } from "@millrace/worker-config";
import { defineQueue, parseJobFailure, replayFields } from "@millrace/worker-config/contracts";
import type { JobsOptions } from "bullmq";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import { PermanentError, RateLimitedError, TransientError } from "./job-error.ts";
import type { HandlersOf } from "./job-handlers.ts";

// What only a record in Redis can show. Every other outcome is a case of the conformance suite, for this host and the one in memory.

const contract = defineQueue("default", {
  run: { data: z.object({ text: z.string() }), result: z.object({ echo: z.string() }), timeout: 10_000 },
});
const { raw, work, add, stored, ended } = useQueue(contract);

test.each<[what: string, data: unknown]>([
  ["a type that is not the job's name", { type: "other", data: { text: "a" } }],
  ["no envelope", "text"],
])("a job with %s is dead at once, and its payload is not in the reason", async (_, payload) => {
  await work({ run: async () => ({ echo: "" }) });
  const added = await raw.add("run", payload, { attempts: 3, backoff: 1 });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([1, "invalid_data"]);
});

test("an action whose handler is still to be written is unknown to the worker, like one of a newer producer", async () => {
  // What the compiler refuses, and a process that watches its sources runs all the same.
  const warnings: unknown[] = [];
  const write = (line: string) => void warnings.push(JSON.parse(line));
  const log = createLogger({ level: "warn", format: "json", destination: { write } });
  await work({} as HandlersOf<typeof contract>, { log });
  expect(warnings).toMatchObject([{ code: "handler_missing", actions: ["run"] }]);
  const added = await raw.add("run", { type: "run", data: { text: "a" } }, { attempts: 2, backoff: 1 });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([2, "unknown_action"]);
  expect(job.failedReason).toContain('the action "run" is in the contract, and this worker has no handler for it');
});

test("a dead letter shows where each of its attempts failed, in the handler and not where the host settled it", async () => {
  const failHere = (attempt: number) => {
    throw attempt === 1 ? new Error("not yet") : new PermanentError("no");
  };
  await work({ run: async (_, { attempt }) => failHere(attempt) });
  const job = await ended(await add("run", { text: "a" }, { attempts: 3 }));
  const shown = expect.stringMatching(/^ +at failHere /m);
  expect([job.failedReason, job.stacktrace]).toEqual(["[permanent] no", [shown, shown]]);
});

test("a job that is deferred for ever is a dead letter after a hundred starts, with the code of what held it up", async () => {
  const run = async () => {
    throw new RateLimitedError("slow down", { code: "provider_quota", retryAfterMs: 1 });
  };
  const jobId = await add("run", { text: "a" }, { attempts: 5 });
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), "ats", 97]);
  await work({ run });
  const job = await ended(jobId);
  const { code } = parseJobFailure(job.failedReason);
  expect([job.attemptsStarted, job.attemptsMade, code]).toEqual([100, 1, "provider_quota"]);
});

test("no way back into the queue is endless: the 251st start of a job is refused as poison", async () => {
  let runs = 0;
  const run = async () => {
    runs += 1;
    return { echo: "" };
  };
  const jobId = await add("run", { text: "a" }, { attempts: 5 });
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), "ats", 250]);
  await work({ run });
  expect([parseJobFailure((await ended(jobId)).failedReason).code, runs]).toEqual(["poison", 0]);
});

test("a job that is too old to be deferred once more is a dead letter with its own code", async () => {
  const run = async () => {
    throw new RateLimitedError("slow down", { code: "provider_quota", retryAfterMs: 1 });
  };
  const twoDaysAgo = Date.now() - 2 * 24 * 60 * 60_000;
  const added = await raw.add("run", { type: "run", data: { text: "a" } }, { attempts: 5, timestamp: twoDaysAgo });
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(added.id ?? ""), "ats", 24]);
  await work({ run });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([1, "provider_quota"]);
});

test("a dead letter that is replayed ages from its replay on, and may be deferred like a new job", async () => {
  let starts = 0;
  const run = async () => {
    starts += 1;
    if (starts === 1) throw new PermanentError("no");
    if (starts < 5) throw new RateLimitedError("slow down", { retryAfterMs: 1 });
    return { echo: "" };
  };
  await work({ run });
  const twoDaysAgo = Date.now() - 2 * 24 * 60 * 60_000;
  const letter = await raw.add("run", { type: "run", data: { text: "a" } }, { timestamp: twoDaysAgo });
  const jobId = letter.id ?? "";
  await ended(jobId);
  // So many starts that its age counts.
  const fields = [replayFields.at, Date.now(), "ats", 30];
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), ...fields]);
  await (await stored(jobId)).retry("failed", { resetAttemptsMade: true });
  await expect.poll(() => raw.getJobState(jobId)).toBe("completed");
  expect(starts).toBe(5);
});

test.each<[backoff: JobsOptions["backoff"], leastMs: number]>([
  [undefined, 300],
  [1, 300],
  [{ type: "fixed", delay: 400 }, 400],
  [{ type: "exponential", delay: 1 }, 300],
  [{ type: "exponential", delay: 400 }, 400],
  [{ type: "exponential" }, 300],
])("a wait that a failure asks for holds for a job with BullMQ's own backoff %o as well", async (backoff, leastMs) => {
  const starts: number[] = [];
  const run = async () => {
    starts.push(performance.now());
    throw new TransientError("busy", { retryAfterMs: 300 });
  };
  await work({ run });
  const opts = { attempts: 2, ...(backoff !== undefined && { backoff }) };
  const added = await raw.add("run", { type: "run", data: { text: "a" } }, opts);
  await ended(added.id ?? "");
  const [first = 0, second = 0] = starts;
  // Redis counts whole milliseconds.
  expect(second - first).toBeGreaterThanOrEqual(leastMs - 2);
});

test("jobs that fail together, and say nothing of their retries, do not come back together", async () => {
  const all = Promise.withResolvers<void>();
  const fail = Promise.withResolvers<void>();
  let starts = 0;
  const run = async () => {
    starts += 1;
    if (starts === 40) all.resolve();
    await fail.promise;
    throw new Error("the service is away");
  };
  const worker = await work({ run }, { concurrency: 40 });
  const jobs = await raw.addBulk(
    Array.from({ length: 40 }, (_, index) => ({
      name: "run",
      data: { type: "run", data: { text: "a" } },
      // Half of them from a producer that is not ours, and names no backoff.
      opts: index % 2 === 0 ? defaultJobOptions : { attempts: 3 },
    })),
  );
  await all.promise;
  // One that stops takes none of them up again while the others still fail.
  const stopped = worker.stop(20_000);
  fail.resolve();
  await stopped;
  expect(await raw.getDelayedCount()).toBe(40);
  const waits = await Promise.all(jobs.map(async ({ id = "" }) => (await stored(id)).delay));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
  expect(new Set(waits).size).toBeGreaterThan(20);
});
