import { createLogger } from "@millrace/logger";
import { closeQueues, enqueue, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { cancelChannel, defineQueue, parseJobFailure } from "@millrace/worker-config/contracts";
import { type Job, Queue, QueueEvents, UnrecoverableError } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, afterEach, expect, test } from "vitest";
import { z } from "zod";
import type { JobContext } from "./job-context.ts";
import { AmbiguousError, ContentionError, PermanentError, RateLimitedError, TransientError } from "./job-error.ts";
import { type RunningWorker, startWorker } from "./start-worker.ts";

/** One action whose handler does what the test says. */
const contract = defineQueue("default", {
  run: {
    data: z.object({ text: z.string(), count: z.number().default(7) }),
    result: z.object({ echo: z.string() }),
    timeout: 10_000,
    options: { attempts: 2 },
  },
});
type Handler = (data: { text: string; count: number }, context: JobContext) => Promise<{ echo: string }>;

const prefix = readQueueEnv().QUEUE_PREFIX;
const raw = new Queue("default", { connection: getRedisConnection("worker"), prefix });
const events = new QueueEvents("default", { connection: getRedisConnection("events"), prefix });
let running: RunningWorker | undefined;

async function work(handler: Handler, log = createLogger({ level: "silent" })): Promise<RunningWorker> {
  await events.waitUntilReady();
  running = startWorker(
    contract,
    { run: handler },
    { connection: getRedisConnection("worker"), prefix, concurrency: 5, log },
  );
  await running.untilReady();
  return running;
}

/** Adds a job, waits for its end, and returns it as stored. */
async function finished(data: object, options: Parameters<typeof enqueue>[3] = {}): Promise<Job> {
  // The test decides what is valid.
  const { jobId } = await enqueue(contract, "run", data as { text: string }, {
    retryIntervalsMs: [1],
    attempts: 2,
    ...options,
  });
  return ended(jobId);
}

async function ended(jobId: string): Promise<Job> {
  const job = await raw.getJob(jobId);
  await job?.waitUntilFinished(events, 15_000).catch(() => {});
  const stored = await raw.getJob(jobId);
  if (!stored) throw new Error(`job ${jobId} is gone`);
  return stored;
}

afterEach(async () => {
  await running?.stop(0);
  running = undefined;
});
afterAll(async () => {
  await Promise.all([closeQueues(), events.close(), raw.close()]);
});

test("a job is parsed, run and completed with its result", async () => {
  await work(async (data) => ({ echo: `${data.text}${data.count}` }));
  const job = await finished({ text: "a" });
  expect(await job.getState()).toBe("completed");
  expect(job.returnvalue).toEqual({ echo: "a7" });
});

test.each<[cause: string, thrown: () => unknown, code: string, attempts: number]>([
  ["an error", () => new Error("no"), "handler_error", 2],
  ["null", () => null, "handler_error", 2],
  ["undefined", () => undefined, "handler_error", 2],
  ["a string", () => "no", "handler_error", 2],
  ["a number", () => 5, "handler_error", 2],
  ["a frozen object", () => Object.freeze({ a: 1 }), "handler_error", 2],
  ["a frozen error", () => Object.freeze(new Error("no")), "handler_error", 2],
  ["a transient error with a code", () => new TransientError("no", { code: "busy" }), "busy", 2],
  ["a permanent error", () => new PermanentError("no", { code: "gone" }), "gone", 1],
  [
    "a permanent error three causes down",
    () => new Error("a", { cause: new Error("b", { cause: new PermanentError("c", { code: "gone" }) }) }),
    "gone",
    1,
  ],
  [
    "a permanent error of a second copy of the package",
    () => Object.assign(new Error("no"), { failureKind: "permanent", code: "gone" }),
    "gone",
    1,
  ],
  ["BullMQ's own unrecoverable error", () => new UnrecoverableError(""), "permanent", 1],
])(
  "%s that a handler throws ends as a dead letter with a code, after the right number of attempts",
  async (_, thrown, code, attempts) => {
    await work(async () => {
      throw thrown();
    });
    const job = await finished({ text: "a" });
    expect(await job.getState()).toBe("failed");
    expect(parseJobFailure(job.failedReason).code).toBe(code);
    expect(job.attemptsMade).toBe(attempts);
  },
);

test("a job that fails once and then succeeds has two attempts and no error left", async () => {
  await work(async (_, { attempt, isFinalAttempt }) => {
    if (attempt === 1) throw new Error("not yet");
    return { echo: String(isFinalAttempt) };
  });
  const job = await finished({ text: "a" });
  expect(job.returnvalue).toEqual({ echo: "true" });
  expect(job.attemptsMade).toBe(2);
});

test("an unknown action is tried again, because a newer worker may know it", async () => {
  await work(async () => ({ echo: "" }));
  const added = await raw.add("later", { type: "later", data: {} }, { attempts: 2, backoff: 1 });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([2, "unknown_action"]);
});

test.each<[what: string, data: unknown]>([
  ["data that its schema refuses", { type: "run", data: { text: 5 } }],
  ["a type that is not the job's name", { type: "other", data: { text: "a" } }],
  ["no envelope", "text"],
])("a job with %s is dead at once, and its payload is not in the reason", async (_, data) => {
  await work(async () => ({ echo: "" }));
  const added = await raw.add("run", data, { attempts: 3, backoff: 1 });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([1, "invalid_data"]);
});

test("an attempt past its time fails with timeout, its signal aborts, and what comes later lands nowhere", async () => {
  const late = Promise.withResolvers<{ echo: string }>();
  let reason: unknown;
  await work(async (_, { signal }) => {
    signal.addEventListener("abort", () => {
      reason = signal.reason;
    });
    return late.promise;
  });
  const job = await finished({ text: "a" }, { timeoutMs: 50, attempts: 1 });
  late.resolve({ echo: "too late" });
  expect(parseJobFailure(job.failedReason)).toEqual({
    code: "timeout",
    message: "The attempt took longer than 50 ms.",
  });
  expect(reason).toBeInstanceOf(Error);
  expect((await raw.getJob(job.id ?? ""))?.returnvalue).toBeNull();
});

test("a result that its schema refuses is dropped, and the effect is not repeated for it", async () => {
  let runs = 0;
  await work(async () => {
    runs += 1;
    // A handler in plain JavaScript can return anything.
    return { echo: 1n } as unknown as { echo: string };
  });
  const job = await finished({ text: "a" });
  expect([await job.getState(), job.returnvalue, runs]).toEqual(["completed", null, 1]);
});

test("each attempt ends in one log line that holds its identity and outcome and never its payload", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", destination: { write: (line) => lines.push(line) } });
  await work(async (_, { attempt }) => {
    if (attempt === 1) throw new Error("not yet");
    return { echo: "" };
  }, log);
  const job = await finished({ text: "a-secret-payload" });
  const outcomes = lines.map((line) => JSON.parse(line)).filter(({ outcome }) => outcome);
  expect(outcomes).toMatchObject([
    { queue: "default", action: "run", jobId: job.id, attempt: 1, outcome: "retry", code: "handler_error" },
    { queue: "default", action: "run", jobId: job.id, attempt: 2, outcome: "completed" },
  ]);
  expect(lines.join("")).not.toContain("a-secret-payload");
});

test("a stop lets the running job come to its end and takes no further one", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const worker = await work(async () => {
    started.resolve();
    await finish.promise;
    return { echo: "done" };
  });
  const { jobId } = await enqueue(contract, "run", { text: "a" });
  await started.promise;
  const stopping = worker.stop(10_000);
  const later = await enqueue(contract, "run", { text: "b" });
  finish.resolve();
  expect(await stopping).toBe(true);
  expect((await raw.getJob(jobId))?.returnvalue).toEqual({ echo: "done" });
  expect(await (await raw.getJob(later.jobId))?.getState()).toBe("waiting");
  await raw.remove(later.jobId);
});

test("a stop whose time is over aborts the signal and hands the job back, at the head and without using up an attempt", async () => {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const worker = await work(async (_, { signal }) => {
    started.resolve();
    signal.addEventListener("abort", () => aborted.resolve(signal.reason));
    // It ignores its signal for ever.
    return new Promise(() => {});
  });
  const { jobId } = await enqueue(contract, "run", { text: "a" }, { attempts: 1 });
  await started.promise;
  expect(await worker.stop(1)).toBe(false);
  expect(await aborted.promise).toMatchObject({ message: "The worker shuts down." });
  const handedBack = await raw.getJob(jobId);
  expect([await handedBack?.getState(), handedBack?.attemptsMade, handedBack?.stalledCounter]).toEqual([
    "waiting",
    0,
    0,
  ]);
  await work(async (_, { attempt }) => ({ echo: `attempt ${attempt}` }));
  expect((await ended(jobId)).returnvalue).toEqual({ echo: "attempt 1" });
});

test.each([
  ["rate limited", () => new RateLimitedError("slow down", { retryAfterMs: 20 })],
  ["held up by another", () => new ContentionError("locked", { retryAfterMs: 20 })],
])("a job that is %s is deferred to the stated time without using up its one attempt", async (_, error) => {
  const starts: number[] = [];
  await work(async (_data, { attempt }) => {
    starts.push(Date.now());
    if (starts.length < 4) throw error();
    return { echo: `attempt ${attempt}` };
  });
  const job = await finished({ text: "a" }, { attempts: 1 });
  expect(job.returnvalue).toEqual({ echo: "attempt 1" });
  expect(job.attemptsMade).toBe(1);
  for (const [index, start] of starts.slice(1).entries())
    expect(start - (starts[index] ?? 0)).toBeGreaterThanOrEqual(19);
});

test("a job that is too old to be deferred once more is a dead letter with its own code", async () => {
  await work(async () => {
    throw new RateLimitedError("slow down", { code: "provider_quota", retryAfterMs: 1 });
  });
  const twoDaysAgo = Date.now() - 2 * 24 * 60 * 60_000;
  const added = await raw.add("run", { type: "run", data: { text: "a" } }, { attempts: 5, timestamp: twoDaysAgo });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([1, "provider_quota"]);
});

test("an effect that may have happened is not repeated", async () => {
  let runs = 0;
  await work(async () => {
    runs += 1;
    throw new AmbiguousError("no answer");
  });
  const job = await finished({ text: "a" });
  expect([runs, parseJobFailure(job.failedReason).code]).toEqual([1, "ambiguous"]);
});

test("a message on the queue's channel aborts the running job, which ends as cancelled and is not tried again", async () => {
  const started = Promise.withResolvers<void>();
  await work(async () => {
    started.resolve();
    return new Promise(() => {});
  });
  const { jobId } = await enqueue(contract, "run", { text: "a" }, { attempts: 3, retryIntervalsMs: [1] });
  await started.promise;
  const publisher = new Redis({ ...getRedisConnection("events") });
  await publisher.publish(cancelChannel(prefix, "default"), jobId);
  publisher.disconnect();
  const job = await ended(jobId);
  expect([await job.getState(), job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([
    "failed",
    1,
    "cancelled",
  ]);
});
