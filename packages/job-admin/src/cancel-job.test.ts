import {
  closeQueues,
  defaultWorkerOptions,
  enqueueUnchecked,
  getRedisConnection,
  readQueueEnv,
} from "@millrace/worker-config";
import { cancelChannel, contracts } from "@millrace/worker-config/contracts";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { cancelJob } from "./cancel-job.ts";
import { findJob } from "./find-job.ts";

const mail = { to: "ada@example.com", subject: "x", text: "x" };
const prefix = readQueueEnv().QUEUE_PREFIX;
const queue = new Queue("email", { connection: getRedisConnection("worker"), prefix });
let worker: Worker | undefined;

const add = (options: object = {}) => enqueueUnchecked(contracts.email, "sendEmail", mail, options);
const cancel = async (jobId: string) => (await cancelJob("email", jobId)).outcome;
const status = async (jobId: string) => (await findJob("email", jobId))?.status;

/** A plain BullMQ worker: whichever one takes a cancelled job runs nothing of it. */
function work(process: () => Promise<unknown>): Worker {
  worker = new Worker("email", process, { ...defaultWorkerOptions, connection: getRedisConnection("worker"), prefix });
  return worker;
}

afterEach(async () => {
  await worker?.close();
  worker = undefined;
});
afterAll(async () => {
  await Promise.all([queue.close(), closeQueues()]);
});

test.each([
  ["waiting", {}],
  ["delayed", { delayMs: 60_000 }],
  ["urgent", { priority: 1 }],
])("a %s job is cancelled at once, and no worker runs it", async (_, options) => {
  const { jobId } = await add(options);
  expect(await cancel(jobId)).toBe("cancelled");
  expect(await status(jobId)).toBe("cancelled");
  let runs = 0;
  work(async () => {
    runs += 1;
  });
  await vi.waitFor(async () => expect(await (await queue.getJob(jobId))?.getState()).toBe("failed"), 10_000);
  expect(runs).toBe(0);
  expect(await findJob("email", jobId)).toMatchObject({ status: "cancelled", error: { code: "cancelled" } });
  // What was called off once stays so.
  expect(await cancel(jobId)).toBe("finished");
});

test("a running job's processes are told, and it is not shown as cancelled before it is", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const told = Promise.withResolvers<string>();
  const subscriber = new Redis({ ...getRedisConnection("events") });
  await subscriber.subscribe(cancelChannel(prefix, "email"));
  subscriber.on("message", (_, message: string) => told.resolve(message));
  work(async () => {
    started.resolve();
    await finish.promise;
  });
  const { jobId } = await add();
  await started.promise;
  expect(await cancel(jobId)).toBe("cancelling");
  expect(await told.promise).toBe(jobId);
  expect(await status(jobId)).toBe("running");
  finish.resolve();
  subscriber.disconnect();
});

test("a job whose worker has died is shown as running until another worker ends it, as cancelled however often it had stalled", async () => {
  const { jobId } = await add();
  const client = await queue.getBackend().client;
  await client.runCommand("lrem", [queue.toKey("wait"), 0, jobId]);
  await client.runCommand("rpush", [queue.toKey("active"), jobId]);
  await client.runCommand("hset", [queue.toKey(jobId), "stc", defaultWorkerOptions.maxStalledCount]);
  expect([await cancel(jobId), await status(jobId)]).toEqual(["cancelling", "running"]);
  // A check of an earlier worker counts for its whole interval.
  await client.runCommand("del", [queue.toKey("stalled-check")]);
  let runs = 0;
  const options = { ...defaultWorkerOptions, connection: getRedisConnection("worker"), prefix, stalledInterval: 50 };
  worker = new Worker("email", async () => (runs += 1), options);
  const ended = { status: "cancelled", finishedAt: expect.any(String), error: { code: "cancelled" } };
  await expect.poll(() => findJob("email", jobId), { timeout: 5_000 }).toMatchObject(ended);
  expect(runs).toBe(0);
});

test("a job that has ended stays as it was, and one that never was is unknown", async () => {
  const done = Promise.withResolvers<void>();
  work(async () => "done").on("completed", () => done.resolve());
  const { jobId } = await add();
  await done.promise;
  expect(await cancel(jobId)).toBe("finished");
  expect(await status(jobId)).toBe("success");
  expect(await cancel("never-was")).toBe("unknown");
  for (const key of ["meta", "wait", `${jobId}:logs`]) expect(await cancel(key)).toBe("unknown");
});
