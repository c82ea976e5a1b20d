import { type Job, UnrecoverableError, Worker } from "bullmq";
import { afterEach, expect, test, vi } from "vitest";
import { mailJob, useFreshQueues } from "../../test/queues.ts";
import { defaultJobOptions, emailQueue, getRedisConnection } from "../index.ts";
import { dedupe, redrive } from "./retention.ts";

useFreshQueues();

const workers: Worker[] = [];
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close())));

/** Runs what is in the queue, and resolves with the next job that ended. */
function work(handle: (job: Job) => Promise<void> = async () => {}): Promise<unknown> {
  const options = { connection: getRedisConnection("worker"), prefix: String(process.env.QUEUE_PREFIX) };
  const worker = new Worker("email", handle, options);
  workers.push(worker);
  return new Promise((resolve) => {
    worker.once("completed", resolve);
    worker.once("failed", resolve);
  });
}
const fail = async () => {
  throw new UnrecoverableError("no");
};

test("dedupe keeps the id for whole seconds, and a failure until somebody looks at it", () => {
  expect(dedupe(1_000)).toEqual({ removeOnComplete: { age: 1 }, removeOnFail: false });
  expect(dedupe(90_500).removeOnComplete).toEqual({ age: 91 });
});

test.each([0, 999, -1, Number.NaN, Number.POSITIVE_INFINITY])("dedupe refuses %d milliseconds", (keepForMs) => {
  expect(() => dedupe(keepForMs)).toThrow(`dedupe: expected at least 1000 milliseconds, got ${keepForMs}.`);
});

test("dedupe: after the job completed its id is still taken", async () => {
  await emailQueue.add("sendEmail", mailJob, { jobId: "once", ...dedupe(60_000) });
  await work();
  await emailQueue.add("sendEmail", mailJob, { jobId: "once", ...dedupe(60_000) });
  expect(await emailQueue.getJobCounts("waiting", "completed")).toEqual({ waiting: 0, completed: 1 });
});

test("redrive: the id is free again the moment the job ends, well or badly", async () => {
  expect(redrive()).toEqual({ removeOnComplete: true, removeOnFail: true });
  for (const handle of [undefined, fail]) {
    await emailQueue.add("sendEmail", mailJob, { jobId: "wake", ...redrive() });
    await work(handle);
    expect(await emailQueue.getJob("wake")).toBeUndefined();
    await workers.pop()?.close();
  }
});

test("by default a completed job stays for a day, and a failed one stays", async () => {
  await emailQueue.add("sendEmail", mailJob, { jobId: "kept" });
  await work();
  await workers.pop()?.close();
  await emailQueue.add("sendEmail", mailJob, { jobId: "dead" });
  await work(fail);
  expect(await emailQueue.getJobCounts("completed", "failed")).toEqual({ completed: 1, failed: 1 });
  expect((await emailQueue.getJob("kept"))?.opts).toMatchObject({ removeOnComplete: { age: 86_400 } });
  expect(defaultJobOptions.removeOnFail).toBe(false);
});

test("the shortest age of a queue wins: a job that finishes takes along what is older than its own age", async () => {
  await emailQueue.add("sendEmail", mailJob, { jobId: "kept-for-a-day" });
  await work();
  expect(await emailQueue.getJob("kept-for-a-day")).toBeDefined();
  // Ages pass with the clock: short-lived jobs finish one after the other until one of them is younger by more than its second.
  await vi.waitFor(
    async () => {
      await emailQueue.add("sendEmail", mailJob, dedupe(1_000));
      expect(await emailQueue.getJob("kept-for-a-day")).toBeUndefined();
    },
    { timeout: 10_000, interval: 200 },
  );
});
