import { type Job, Worker } from "bullmq";
import { afterEach, expect, test } from "vitest";
import { mail, mailJob, useFreshQueues } from "../../test/queues.ts";
import { emailContract, emailQueue, enqueue, getRedisConnection } from "../index.ts";
import { defaultJobOptions, defaultWorkerOptions } from "./default-options.ts";

useFreshQueues();

const workers: Worker[] = [];
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close(true))));

/** A worker with the defaults whose every attempt fails. `wait` resolves after so many of them with the moments they began. */
function failing(): { wait: (attempts: number) => Promise<number[]> } {
  const starts: number[] = [];
  const worker: Worker = new Worker(
    "email",
    async (): Promise<void> => {
      starts.push(performance.now());
      throw new Error("no");
    },
    { ...defaultWorkerOptions, connection: getRedisConnection("worker"), prefix: String(process.env.QUEUE_PREFIX) },
  );
  workers.push(worker);
  const wait = (attempts: number) =>
    new Promise<number[]>((resolve) => {
      worker.on("failed", () => {
        if (starts.length >= attempts) resolve(starts);
      });
    });
  return { wait };
}

const stateOf = async (job: Job | undefined) => [await job?.getState(), job?.attemptsMade];

test("a worker with the defaults waits before each retry what the enqueue asked for, then gives up", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { retryIntervalsMs: [100, 300] });
  const [first = 0, second = 0, third = 0] = await failing().wait(3);
  // Less one for the rounding of two clocks.
  expect(second - first).toBeGreaterThanOrEqual(99);
  expect(third - second).toBeGreaterThanOrEqual(299);
  expect(await stateOf(await emailQueue.getJob(jobId))).toEqual(["failed", 3]);
});

test("the wait that the enqueue asked for is kept to the millisecond, without jitter", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { retryIntervalsMs: [60_000] });
  await failing().wait(1);
  const job = await emailQueue.getJob(jobId);
  expect(await stateOf(job)).toEqual(["delayed", 1]);
  expect(job?.delay).toBe(60_000);
});

test("without such a list the first retry comes between half a second and a second later", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail);
  await failing().wait(1);
  const job = await emailQueue.getJob(jobId);
  expect(await stateOf(job)).toEqual(["delayed", 1]);
  expect(job?.delay).toBeGreaterThanOrEqual(500);
  expect(job?.delay).toBeLessThanOrEqual(1_000);
});

test("a plain add without options gets every default, and the attempts that its contract names", async () => {
  const { id } = await emailQueue.add("sendEmail", mailJob);
  expect((await emailQueue.getJob(String(id)))?.opts).toMatchObject({ ...defaultJobOptions, attempts: 5 });
  const [bulk] = await emailQueue.addBulk([{ name: "sendEmail", data: mailJob }]);
  expect((await emailQueue.getJob(String(bulk?.id)))?.opts.attempts).toBe(5);
});

test("the events of a queue are bounded", async () => {
  await emailQueue.waitUntilReady();
  expect(emailQueue.opts.streams?.events.maxLen).toBe(10_000);
});
