import { expect, test } from "vitest";
import type { JobContext } from "../../src/job-context.ts";
import { contract, createGate, type Engine, untilEnded, untilStatus } from "./engine.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** Says when it was started and when it was aborted, and ignores both its signal and the time. */
function stubborn() {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const run = async (_: unknown, { signal }: JobContext) => {
    signal.addEventListener("abort", () => aborted.resolve(signal.reason));
    started.resolve();
    return new Promise<never>(() => {});
  };
  return { started: started.promise, aborted: aborted.promise, run };
}

/** How a job is ended from outside, what it tells of itself, and how it begins anew. */
export function endingCases(engine: Engine): void {
  const add = async (text: string, options: object = {}) =>
    (await engine.enqueue(contract, "run", { text }, options)).jobId;

  test("a handler that was written without types, and returns no promise, ends its job as any other", async () => {
    // What the compiler would refuse.
    const run = (() => ({ echo: "at once" })) as unknown as () => Promise<{ echo: string }>;
    await engine.start({ run });
    const jobId = await add("plain");
    expect(await untilEnded(engine, jobId)).toMatchObject({ status: "success", result: { echo: "at once" } });
  });

  test("a handler learns what its job is, and its own jobs belong to the same trace", async () => {
    const contexts: JobContext[] = [];
    const children: string[] = [];
    await engine.start({
      run: async ({ text }, context) => {
        contexts.push(context);
        await context.progress(50);
        if (text === "parent") children.push((await context.enqueue(contract, "keyed", { text: "order" })).jobId);
        return { echo: "" };
      },
      keyed: async (_, context) => {
        contexts.push(context);
        return { echo: "" };
      },
    });
    const options = { meta: { traceparent }, attempts: 1 };
    const { jobId } = await engine.enqueue(contract, "run", { text: "parent", workspaceId: "w" }, options);
    const parent = await untilEnded(engine, jobId);
    await untilEnded(engine, children[0] ?? "");
    expect(contexts).toMatchObject([
      { queue: "default", action: "run", jobId, attempt: 1, isFinalAttempt: true, workspaceId: "w", traceparent },
      { action: "keyed", jobId: children[0], isFinalAttempt: false, idempotencyKey: "order", traceparent },
    ]);
    expect(contexts[0]).toMatchObject({ idempotencyKey: undefined, createdAt: new Date(parent.createdAt) });
    // It said 50, and succeeded.
    expect(parent.progress).toBe(100);
  });

  test("a status tells times, attempts and the result of a success", async () => {
    await engine.start({ run: async () => ({ echo: "hello" }) });
    const jobId = await add("a");
    const { createdAt, startedAt, finishedAt, ...status } = await untilEnded(engine, jobId);
    expect(status).toEqual({
      jobId,
      queue: "default",
      action: "run",
      status: "success",
      attempts: 1,
      progress: 100,
      dueAt: null,
      result: { echo: "hello" },
      error: null,
    });
    const times = [createdAt, startedAt ?? "", finishedAt ?? ""];
    expect(times).toEqual(times.map((time) => new Date(time).toISOString()).sort());
    expect(await engine.findJob("nobody")).toBeUndefined();
  });

  test("an attempt past its time fails with timeout, its signal aborts, and what comes later lands nowhere", async () => {
    const { aborted, run } = stubborn();
    await engine.start({ run });
    const job = await untilEnded(engine, await add("a", { timeoutMs: 30, attempts: 1 }));
    expect(await aborted).toMatchObject({ message: "The attempt took longer than 30 ms." });
    expect(job).toMatchObject({ status: "failed", attempts: 1, error: { code: "timeout" }, result: null });
  });

  test("what a handler says after its attempt's end is nobody's: the next attempt's progress and lines stand", async () => {
    const { started: leaveLate, open, pass } = createGate();
    const late = Promise.withResolvers<void>();
    const run = async (_: unknown, { attempt, progress, note }: JobContext) => {
      await note(`attempt ${attempt}`);
      await progress(attempt * 10);
      if (attempt === 2) return { echo: "done" };
      await pass();
      await Promise.all([progress(99), note("too late")]);
      late.resolve();
      return { echo: "late" };
    };
    await engine.start({ run });
    const jobId = await add("a", { timeoutMs: 500, attempts: 2, retryIntervalsMs: [1] });
    await leaveLate;
    await untilEnded(engine, jobId);
    open();
    await late.promise;
    expect(await engine.readNotes(jobId)).toEqual(["attempt 1", "attempt 2"]);
    expect(await engine.findJob(jobId)).toMatchObject({ status: "success", progress: 100, result: { echo: "done" } });
  });

  test("a job keeps the last hundred lines that its handler said, and as much of each as a person reads", async () => {
    const run = async (_: unknown, { note }: JobContext) => {
      for (let line = 0; line <= 100; line += 1) await note(`${line} ${"x".repeat(3_000)}`);
      return { echo: "done" };
    };
    await engine.start({ run });
    const job = await untilEnded(engine, await add("a"));
    const lines = await engine.readNotes(job.jobId);
    expect([lines.length, lines[0]?.slice(0, 3), lines[99]?.slice(0, 4)]).toEqual([100, "1 x", "100 "]);
    expect(lines[0]).toHaveLength(2_000);
  });

  test("progress is a number from 0 to 100, and what is none says nothing", async () => {
    const run = async (_: unknown, { progress, note }: JobContext) => {
      // As a caller without types may.
      for (const percent of [Number.NaN, Number.POSITIVE_INFINITY, "P".repeat(1_000), () => 1])
        await progress(percent as number);
      await progress(1e308);
      await note({ toString: "no function" } as unknown as string);
      return pass();
    };
    const { started, open, pass } = createGate();
    await engine.start({ run });
    const jobId = await add("a");
    await started;
    expect(await engine.findJob(jobId)).toMatchObject({ progress: 100 });
    expect(await engine.readNotes(jobId)).toEqual(["(object)"]);
    open();
    expect(await untilEnded(engine, jobId)).toMatchObject({ status: "success" });
  });

  test("a running job that is cancelled hears of it through its signal, and is not tried again", async () => {
    const { started, aborted, run } = stubborn();
    await engine.start({ run });
    const jobId = await add("a", { attempts: 3 });
    await started;
    expect(await engine.cancelJob(jobId)).toBe("cancelling");
    expect(await aborted).toMatchObject({ message: "The job was cancelled." });
    expect(await untilEnded(engine, jobId)).toMatchObject({
      status: "cancelled",
      attempts: 1,
      error: { code: "cancelled" },
    });
    await expect.poll(() => engine.cancelJob(jobId), { interval: 10 }).toBe("finished");
  });

  test("a job that is cancelled while it waits, or is delayed, never runs and is cancelled from then on", async () => {
    const { started, open, pass } = createGate();
    const ran: string[] = [];
    const run = async ({ text }: { text: string }) => {
      ran.push(text);
      return pass();
    };
    await engine.start({ run }, { concurrency: 1 });
    const gate = await add("gate");
    await started;
    const waiting = await add("waiting");
    const delayed = await add("delayed", { delayMs: 60_000 });
    for (const jobId of [waiting, delayed]) {
      expect(await engine.cancelJob(jobId)).toBe("cancelled");
      expect(await engine.findJob(jobId)).toMatchObject({ status: "cancelled", error: { code: "cancelled" } });
    }
    open();
    await untilEnded(engine, gate);
    await untilEnded(engine, await add("last"));
    expect(ran).toEqual(["gate", "last"]);
    // On Redis a worker takes the job up to clear it away, and counts that as an attempt; in memory nobody has to.
    for (const jobId of [waiting, delayed]) {
      await expect
        .poll(async () => (await engine.findJob(jobId))?.finishedAt, { interval: 10 })
        .toEqual(expect.any(String));
      expect((await engine.findJob(jobId))?.attempts).toBe(engine.name === "Redis" ? 1 : 0);
    }
  });

  test("what has ended stays as it is when it is cancelled, and nobody's job is unknown", async () => {
    await engine.start({});
    const jobId = await add("a");
    await untilEnded(engine, jobId);
    expect([await engine.cancelJob(jobId), await engine.cancelJob("nobody")]).toEqual(["finished", "unknown"]);
    expect((await engine.findJob(jobId))?.status).toBe("success");
  });

  test("a dead letter that is replayed begins anew: its first attempt, all its attempts, no failure", async () => {
    const attempts: number[] = [];
    let isMended = false;
    const run = async (_: unknown, { attempt }: JobContext) => {
      attempts.push(attempt);
      if (!isMended) throw new Error("no");
      return { echo: "mended" };
    };
    await engine.start({ run });
    const jobId = await add("a", { attempts: 2, retryIntervalsMs: [1] });
    expect(await untilEnded(engine, jobId)).toMatchObject({ status: "failed", attempts: 2 });
    isMended = true;
    expect(await engine.replayDeadLetter(jobId)).toBe("replayed");
    const job = await untilStatus(engine, jobId, ["success"]);
    expect([await engine.replayDeadLetter(jobId), await engine.replayDeadLetter("nobody")]).toEqual([
      "not_failed",
      "unknown",
    ]);
    expect(job).toMatchObject({ attempts: 1, result: { echo: "mended" }, error: null });
    expect(attempts).toEqual([1, 2, 1]);
  });

  test("a stop lets the running job come to its end and takes no further one", async () => {
    const { started, open, pass } = createGate();
    // One at a time: with more, BullMQ may have asked for the next job already when it is told to stop.
    await engine.start({ run: pass }, { concurrency: 1 });
    const running = await add("running");
    await started;
    const stopping = engine.stop(10_000);
    const later = await add("later");
    open();
    await stopping;
    expect(await engine.findJob(running)).toMatchObject({ status: "success", result: { echo: "passed" } });
    expect(await engine.findJob(later)).toMatchObject({ status: "pending", startedAt: null });
  });

  // On Redis another worker takes the job from here (shutdown.test.ts); in memory the stop returns it (memory-host.test.ts).
  test("a stop whose time is over aborts the signal, and the job is pending without a used attempt", async () => {
    const { started, aborted, run } = stubborn();
    await engine.start({ run });
    const jobId = await add("a", { attempts: 1 });
    await started;
    await engine.stop(1);
    expect(await aborted).toMatchObject({ message: "The worker shuts down." });
    expect(await engine.findJob(jobId)).toMatchObject({ status: "pending", attempts: 0, error: null });
  });
}
