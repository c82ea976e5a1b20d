import { defineQueue, type JobStatus } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import type { JobContext } from "../../src/job-context.ts";
import { RateLimitedError, TransientError } from "../../src/job-error.ts";
import { contract, createGate, type Engine, untilEnded, untilStatus } from "./engine.ts";

/** Timers of two clocks and whole milliseconds: a wait may seem this much shorter than it is. */
const toleranceMs = 2;

const waitsBetween = (times: readonly number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));

/** When a job runs, and beside how many others. */
export function orderCases(engine: Engine): void {
  const add = async (text: string, options: object = {}) =>
    (await engine.enqueue(contract, "run", { text }, options)).jobId;

  test("jobs without a priority run before those with one, 1 before 10, and equals in the order of their arrival", async () => {
    const { started, open, pass } = createGate();
    const ran: string[] = [];
    const run = async ({ text }: { text: string }) => {
      ran.push(text);
      return text === "gate" ? pass() : { echo: "" };
    };
    await engine.start({ run }, { concurrency: 1 });
    await add("gate");
    await started;
    const waiting: readonly [text: string, priority?: number][] = [
      ["ten", 10],
      ["two a", 2],
      ["none a"],
      ["one", 1],
      ["two b", 2],
      ["none b"],
    ];
    for (const [text, priority] of waiting) await add(text, priority === undefined ? {} : { priority });
    open();
    await expect.poll(() => ran.length, { interval: 10 }).toBe(7);
    expect(ran).toEqual(["gate", "none a", "none b", "one", "two a", "two b", "ten"]);
  });

  test("a delayed job waits for its time while a later one without a delay runs, and a runAt that has passed means now", async () => {
    const startedAt = new Map<string, number>();
    const run = async ({ text }: { text: string }) => {
      startedAt.set(text, Date.now());
      return { echo: "" };
    };
    await engine.start({ run });
    const addedAt = Date.now();
    const delayed = await add("delayed", { delayMs: 150 });
    const dated = await add("dated", { runAt: new Date(addedAt + 300).toISOString() });
    expect(await engine.findJob(delayed)).toMatchObject({ status: "pending", startedAt: null });
    await add("past", { runAt: "2020-01-01T00:00:00Z" });
    await untilEnded(engine, await add("at once"));
    for (const jobId of [delayed, dated]) await untilEnded(engine, jobId);
    expect([...startedAt.keys()]).toEqual(["past", "at once", "delayed", "dated"]);
    expect((startedAt.get("delayed") ?? 0) - addedAt).toBeGreaterThanOrEqual(150 - toleranceMs);
    expect((startedAt.get("dated") ?? 0) - addedAt).toBeGreaterThanOrEqual(300 - toleranceMs);
  });

  test("explicit intervals are the waits before each retry, the last one repeats, and attempts follow from them", async () => {
    const starts: number[] = [];
    const seen: [attempt: number, isFinal: boolean][] = [];
    const run = async (_: unknown, { attempt, isFinalAttempt }: JobContext) => {
      starts.push(performance.now());
      seen.push([attempt, isFinalAttempt]);
      throw new Error("no");
    };
    await engine.start({ run });
    const listed = await untilEnded(engine, await add("listed", { retryIntervalsMs: [10, 60] }));
    const [first = 0, second = 0] = waitsBetween(starts);
    expect([listed.attempts, seen]).toEqual([
      3,
      [
        [1, false],
        [2, false],
        [3, true],
      ],
    ]);
    expect(first).toBeGreaterThanOrEqual(10 - toleranceMs);
    expect(second).toBeGreaterThanOrEqual(60 - toleranceMs);
    const repeated = await untilEnded(engine, await add("repeated", { retryIntervalsMs: [1], attempts: 4 }));
    expect(repeated.attempts).toBe(4);
  });

  test("a failure that states a wait is tried again no sooner, nor sooner than the job's own wait, and each time is an attempt", async () => {
    const starts: number[] = [];
    const asked = [80, 1];
    const run = async () => {
      starts.push(performance.now());
      throw new TransientError("busy", { code: "busy", retryAfterMs: asked[starts.length - 1] ?? 0 });
    };
    await engine.start({ run });
    const job = await untilEnded(engine, await add("asked", { retryIntervalsMs: [1, 60] }));
    expect(job).toMatchObject({ status: "failed", attempts: 3, error: { code: "busy" } });
    const [first = 0, second = 0] = waitsBetween(starts);
    expect(first).toBeGreaterThanOrEqual(80 - toleranceMs);
    expect(second).toBeGreaterThanOrEqual(60 - toleranceMs);
  });

  test("a job between two attempts is retrying, and shows its last failure", async () => {
    await engine.start({ run: async () => Promise.reject(new Error("not yet")) });
    const jobId = await add("a", { attempts: 2, retryIntervalsMs: [60_000] });
    const status = await untilStatus(engine, jobId, ["retrying"]);
    expect(status).toMatchObject({
      attempts: 1,
      error: { code: "handler_error", message: "not yet" },
      finishedAt: null,
    });
  });

  test("a job that waits for its time says when it is due: delayed, between two attempts, or deferred", async () => {
    const run = async ({ text }: { text: string }) => {
      throw text === "deferred" ? new RateLimitedError("slow down", { retryAfterMs: 60_000 }) : new Error("not yet");
    };
    await engine.start({ run });
    const dueInMs = ({ createdAt, dueAt }: JobStatus) => Date.parse(dueAt ?? "") - Date.parse(createdAt);
    const delayed = await engine.findJob(await add("delayed", { delayMs: 60_000 }));
    const retried = await untilStatus(engine, await add("retried", { retryIntervalsMs: [60_000] }), ["retrying"]);
    const deferredId = await add("deferred");
    await expect
      .poll(async () => (await engine.findJob(deferredId))?.dueAt, { interval: 10 })
      .toEqual(expect.any(String));
    const deferred = await engine.findJob(deferredId);
    for (const job of [delayed, retried, deferred]) {
      if (!job) throw new Error("a job is gone");
      // A record is dated by Redis, a wait by what its worker knows of Redis' clock: a few milliseconds lie between.
      expect(dueInMs(job)).toBeGreaterThanOrEqual(60_000 - 20);
      // A deferred one waits up to an eighth more; the rest is room for a slow machine.
      expect(dueInMs(job)).toBeLessThan(120_000);
    }
  });

  test("a deferred job waits as long as it was told to, no attempt is used up, and meanwhile it is pending", async () => {
    const starts: number[] = [];
    const run = async (_: unknown, { attempt }: JobContext) => {
      starts.push(performance.now());
      if (starts.length < 4) throw new RateLimitedError("slow down", { retryAfterMs: 20 });
      return { echo: `attempt ${attempt}` };
    };
    await engine.start({ run });
    const job = await untilEnded(engine, await add("a", { attempts: 1 }));
    expect(job).toMatchObject({ status: "success", result: { echo: "attempt 1" }, attempts: 1 });
    for (const wait of waitsBetween(starts)) expect(wait).toBeGreaterThanOrEqual(20 - toleranceMs);
  });

  test.each([
    ["the contract's", 20, 3],
    ["the host's", 2, 2],
  ])("no more jobs run at once than %s concurrency, and all get done", async (_, concurrency, expected) => {
    let running = 0;
    let most = 0;
    let done = 0;
    // Each waits until as many run as may, which a slow Redis can take its time for.
    const full = Promise.withResolvers<void>();
    const run = async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === expected) full.resolve();
      await full.promise;
      await new Promise<void>((resolve) => setImmediate(resolve));
      running -= 1;
      done += 1;
      return { echo: "" };
    };
    const limited = defineQueue(contract.name, contract.actions, { concurrency: 3 });
    await engine.start({ run }, { contract: limited, concurrency });
    await Promise.all(Array.from({ length: 20 }, (_each, index) => add(String(index))));
    await expect.poll(() => done, { interval: 10, timeout: 10_000 }).toBe(20);
    expect(most).toBe(expected);
  });

  test("a queue's rate limit is kept, and no job is left behind", async () => {
    const starts: number[] = [];
    const run = async () => {
      starts.push(performance.now());
      return { echo: "" };
    };
    const rated = defineQueue(contract.name, contract.actions, { rateLimit: { max: 5, durationMs: 100 } });
    await engine.start({ run }, { contract: rated });
    await Promise.all(Array.from({ length: 20 }, (_, index) => add(String(index))));
    await expect.poll(() => starts.length, { interval: 10, timeout: 10_000 }).toBe(20);
    // Four bursts of five, so three waits lie between the first start and the last.
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(3 * 100 * 0.9);
  });
}
