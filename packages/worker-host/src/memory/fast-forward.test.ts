import { defineQueue } from "@millrace/worker-config/contracts";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { silent } from "../../test/use-queue.ts";
import type { JobContext } from "../job-context.ts";
import { PermanentError, RateLimitedError } from "../job-error.ts";
import type { HandlersOf } from "../job-handlers.ts";
import { hosted, type MemoryHost, startMemoryHost } from "./index.ts";

const contract = defineQueue("default", {
  run: { data: z.object({ text: z.string() }), result: z.object({ echo: z.string() }) },
});
const minute = 60_000;
const hour = 60 * minute;

/** Time that does not pass by itself. */
const start = Date.parse("2026-01-01T00:00:00Z");
const sinceStart = (time: string | null | undefined) => Date.parse(time ?? "") - start;

const hosts: MemoryHost[] = [];
afterEach(() => Promise.all(hosts.splice(0).map((memory) => memory.stop(0))));

function host(run: HandlersOf<typeof contract>["run"], worked = contract): MemoryHost {
  const memory = startMemoryHost([hosted(worked, { run })], { log: silent, now: () => start, concurrency: 1 });
  hosts.push(memory);
  return memory;
}
const succeed = async () => ({ echo: "" });

test("retries run at the times of their backoff, and nobody waits for them", async () => {
  const memory = host(async () => Promise.reject(new Error("no")));
  const { jobId } = await memory.enqueue(contract, "run", { text: "a" }, { retryIntervalsMs: [minute, 10 * minute] });
  const before = performance.now();
  await memory.fastForward();
  expect(performance.now() - before).toBeLessThan(5_000);
  const status = memory.findJob("default", jobId);
  expect(status).toMatchObject({ status: "failed", attempts: 3, createdAt: "2026-01-01T00:00:00.000Z" });
  expect(sinceStart(status?.finishedAt)).toBe(11 * minute);
});

test("a job that waited for days between its attempts is not too old to be deferred", async () => {
  const starts: number[] = [];
  const memory = host(async (_, { attempt }) => {
    starts.push(attempt);
    if (attempt === 1) throw new Error("no");
    if (starts.length === 2) throw new RateLimitedError("slow down", { retryAfterMs: minute });
    return { echo: "" };
  });
  const { jobId } = await memory.enqueue(contract, "run", { text: "a" }, { retryIntervalsMs: [72 * hour] });
  await memory.fastForward();
  expect(memory.findJob("default", jobId)).toMatchObject({ status: "success", attempts: 2 });
  expect(starts).toEqual([1, 2, 2]);
});

test("jobs of several waits run in the order of their time, and a child takes its place among them", async () => {
  const ran: string[] = [];
  const memory = host(async ({ text }, { enqueue }) => {
    ran.push(text);
    if (text === "an hour") await enqueue(contract, "run", { text: "its child" }, { delayMs: 30 * minute });
    return { echo: "" };
  });
  await memory.enqueue(contract, "run", { text: "two hours" }, { delayMs: 2 * hour });
  await memory.enqueue(contract, "run", { text: "an hour" }, { delayMs: hour });
  await memory.enqueue(contract, "run", { text: "dated" }, { runAt: "2026-01-01T01:45:00Z" });
  await memory.fastForward();
  expect(ran).toEqual(["an hour", "its child", "dated", "two hours"]);
});

test("a given time is moved on by exactly, and runs what is due within it and nothing else", async () => {
  const ran: string[] = [];
  const memory = host(async ({ text }) => {
    ran.push(text);
    return { echo: "" };
  });
  await memory.enqueue(contract, "run", { text: "a minute" }, { delayMs: minute });
  await memory.enqueue(contract, "run", { text: "an hour" }, { delayMs: hour });
  await memory.fastForward(minute - 1);
  expect(ran).toEqual([]);
  await memory.fastForward(1);
  expect(ran).toEqual(["a minute"]);
  await memory.fastForward(59 * minute - 1);
  expect(ran).toEqual(["a minute"]);
  await memory.fastForward(1);
  expect(ran).toEqual(["a minute", "an hour"]);
});

test("what lives for a time ends with it: a result, a dedupe key, an effect", async () => {
  const memory = host(succeed);
  const dedupe = { key: "k", mode: "drop", ttlMs: hour } as const;
  const { jobId } = await memory.enqueue(contract, "run", { text: "a" }, { resultTtlMs: minute, dedupe });
  await memory.fastForward();
  expect(memory.findJob("default", jobId)?.result).toEqual({ echo: "" });
  await memory.fastForward(hour - 1);
  expect(memory.findJob("default", jobId)?.result).toBeNull();
  expect((await memory.enqueue(contract, "run", { text: "b" }, { dedupe })).status).toBe("duplicate");
  await memory.fastForward(1);
  expect((await memory.enqueue(contract, "run", { text: "b" }, { dedupe })).status).toBe("created");
});

test.each([
  ["a day, where its action says nothing", {}, 24 * hour],
  ["what its action says", { idempotencyLifetimeMs: hour }, hour],
])("an effect is had once within its lifetime, %s, and once more after it", async (_, declared, lifetimeMs) => {
  const run = { ...contract.actions.run, ...declared, idempotencyKey: ({ text }: { text: string }) => text };
  const keyed = defineQueue("default", { run });
  let effects = 0;
  const memory = host(async () => ({ echo: String(++effects) }), keyed);
  const statuses: unknown[] = [];
  for (const pauseMs of [0, lifetimeMs - 1, 1]) {
    await memory.fastForward(pauseMs);
    const { jobId } = await memory.enqueue(keyed, "run", { text: "order" });
    await memory.fastForward();
    statuses.push(memory.findJob("default", jobId)?.status);
  }
  expect([statuses, effects]).toEqual([["success", "skipped", "success"], 2]);
});

test("a job that is deferred for longer than a day is a dead letter with the code of what held it up", async () => {
  const starts: number[] = [];
  const memory = host(async (_, { attempt }) => {
    starts.push(attempt);
    throw new RateLimitedError("slow down", { code: "provider_quota", retryAfterMs: hour });
  });
  const { jobId } = await memory.enqueue(contract, "run", { text: "a" });
  await memory.fastForward();
  const status = memory.findJob("default", jobId);
  expect(status).toMatchObject({ status: "failed", attempts: 1, error: { code: "provider_quota" } });
  expect([sinceStart(status?.finishedAt), new Set(starts)]).toEqual([24 * hour, new Set([1])]);
});

test("a dead letter that is replayed ages from its replay on, and may be deferred like a new job", async () => {
  let starts = 0;
  const memory = host(async () => {
    starts += 1;
    if (starts === 1) throw new PermanentError("no");
    if (starts < 5) throw new RateLimitedError("slow down", { retryAfterMs: hour });
    return { echo: "" };
  });
  const { jobId } = await memory.enqueue(contract, "run", { text: "a" });
  await memory.fastForward(48 * hour);
  memory.replayDeadLetter("default", jobId);
  await memory.fastForward();
  expect(memory.findJob("default", jobId)).toMatchObject({ status: "success", attempts: 1 });
});

test("a rate limit is a wait as well", async () => {
  const rated = defineQueue("default", contract.actions, { rateLimit: { max: 2, durationMs: hour } });
  const memory = host(succeed, rated);
  const ids: string[] = [];
  for (const text of ["a", "b", "c", "d", "e"]) ids.push((await memory.enqueue(rated, "run", { text })).jobId);
  await memory.fastForward();
  const startedAt = ids.map((jobId) => sinceStart(memory.findJob("default", jobId)?.startedAt));
  expect(startedAt).toEqual([0, 0, hour, hour, 2 * hour]);
});

test("a job that enqueues itself for ever has an end after thirty days", async () => {
  let ticks = 0;
  const memory = host(async (data, { enqueue }: JobContext) => {
    ticks += 1;
    await enqueue(contract, "run", data, { delayMs: hour });
    return { echo: "" };
  });
  await memory.enqueue(contract, "run", { text: "tick" });
  await memory.fastForward();
  expect(ticks).toBe(1 + 30 * 24);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("%s milliseconds are refused", async (ms) => {
  await expect(host(succeed).fastForward(ms)).rejects.toThrow(/expected milliseconds, 0 or more, got/);
});

test("timers that a test has replaced move a host's delays as they move everything else", async () => {
  vi.useFakeTimers();
  try {
    const memory = startMemoryHost([hosted(contract, { run: succeed })], { log: silent });
    hosts.push(memory);
    const { jobId } = await memory.enqueue(contract, "run", { text: "a" }, { delayMs: hour });
    const drained = memory.drain();
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), 10_000);
    await vi.advanceTimersByTimeAsync(hour);
    await drained;
    expect(memory.findJob("default", jobId)?.status).toBe("success");
  } finally {
    vi.useRealTimers();
  }
});
