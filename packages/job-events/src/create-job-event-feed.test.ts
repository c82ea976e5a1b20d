import { randomUUID } from "node:crypto";
import { findJob } from "@millrace/job-admin";
import { createRedis } from "@millrace/redis";
import { closeQueues, defaultWorkerOptions, emailQueue, enqueue, getRedisConnection } from "@millrace/worker-config";
import { emailContract } from "@millrace/worker-config/contracts";
import { type Job, Worker } from "bullmq";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createJobEventFeed, createJobEventWriter, type JobEventFeedOptions, type JobNews } from "./index.ts";

const prefix = process.env.QUEUE_PREFIX ?? "";
const redis = createRedis("worker", process.env.REDIS_URL ?? "", () => {});
const writer = createJobEventWriter({ redis, prefix });
const mail = { to: "ada@example.com", subject: "x", text: "x" };
const connections: ReturnType<typeof createRedis>[] = [];
const follows: AbortController[] = [];

const createFeed = (options: Partial<JobEventFeedOptions> = {}) =>
  createJobEventFeed({
    connect: () => {
      const connection = createRedis("events", process.env.REDIS_URL ?? "", () => {});
      connections.push(connection);
      return connection;
    },
    prefix,
    findJob,
    ...options,
  });
const feed = createFeed();

/** What jobs do, by their ids. Others wait. */
const work = new Map<string, (job: Job) => Promise<unknown>>();
let worker: Worker;

beforeAll(async () => {
  worker = new Worker("email", async (job) => work.get(String(job.id))?.(job), {
    ...defaultWorkerOptions,
    connection: getRedisConnection("worker"),
    prefix,
  });
  await worker.waitUntilReady();
});
afterEach(() => {
  for (const controller of follows.splice(0)) controller.abort();
});
afterAll(async () => {
  feed.close();
  await worker.close();
  await Promise.all([closeQueues(), redis.quit()]);
});

/** A job that waits an hour, unless it is promoted. */
async function addJob(run: (job: Job) => Promise<unknown> = async () => null): Promise<string> {
  const jobId = randomUUID();
  work.set(jobId, run);
  await enqueue(emailContract, "sendEmail", mail, { jobId, delayMs: 3_600_000, attempts: 1 });
  return jobId;
}
const start = async (jobId: string) => (await emailQueue.getJob(jobId))?.promote();

function follow(jobId: string, after?: string, from = feed): AsyncGenerator<JobNews, void> {
  const controller = new AbortController();
  follows.push(controller);
  return from.follow("email", jobId, { after, signal: controller.signal });
}

/** All news to the end, those that say nothing left out. */
async function collect(news: AsyncIterable<JobNews>): Promise<JobNews[]> {
  const all: JobNews[] = [];
  for await (const item of news) if (item.kind !== "idle") all.push(item);
  return all;
}
const tell = (news: readonly JobNews[]) =>
  news.map((item) => {
    if (item.kind === "event") return `${item.type} ${item.json}`;
    if (item.kind === "gap") return `gap ${item.missed}`;
    if (item.kind === "idle") return "idle";
    return `${item.kind} ${item.job?.status}`;
  });

test("a follower hears the state as it stands, progress, what the job says, and the outcome, and is let go", async () => {
  const jobId = await addJob(async (job) => {
    await job.updateProgress(50);
    await writer.append("email", jobId, { type: "token", data: "Hel" });
    await writer.append("email", jobId, { type: "token", data: "lo" });
    return { messageId: "m-1" };
  });
  const news = follow(jobId);
  expect((await news.next()).value).toMatchObject({ kind: "status", job: { status: "pending" } });
  await start(jobId);
  const rest = await collect(news);
  expect(tell(rest).filter((text) => !text.startsWith("status"))).toEqual(['token "Hel"', 'token "lo"', "end success"]);
  expect(rest.at(-1)).toMatchObject({ job: { result: { messageId: "m-1" }, progress: 100 } });
});

test("progress is told while the job runs", async () => {
  const isTold = Promise.withResolvers<void>();
  const jobId = await addJob(async (job) => {
    await job.updateProgress(30);
    await isTold.promise;
  });
  const news = follow(jobId);
  await start(jobId);
  for await (const item of news) if (item.kind === "status" && item.job.progress === 30) break;
  isTold.resolve();
});

test("a follower that comes late, or again, goes on where it was", async () => {
  const jobId = await addJob();
  for (const data of ["a", "b", "c"]) await writer.append("email", jobId, { type: "token", data });
  await start(jobId);
  const all = await collect(follow(jobId));
  expect(tell(all).slice(-4)).toEqual(['token "a"', 'token "b"', 'token "c"', "end success"]);
  const second = all.filter((item) => item.kind === "event")[1];
  expect(tell(await collect(follow(jobId, second?.id)))).toEqual(["status success", 'token "c"', "end success"]);
});

test("events that were trimmed away before they were read are told as a gap", async () => {
  const short = createJobEventWriter({ redis, prefix, maxEvents: 100 });
  const jobId = await addJob();
  for (let number = 1; number <= 250; number += 1) await short.append("email", jobId, { type: "token", data: number });
  await start(jobId);
  const news = await collect(follow(jobId));
  const [gap, first] = [news.find((item) => item.kind === "gap"), news.find((item) => item.kind === "event")];
  expect(gap?.missed).toBeGreaterThanOrEqual(100);
  expect(first?.json).toBe(String(Number(gap?.missed) + 1));
  expect(tell(news).slice(-2)).toEqual(["token 250", "end success"]);
});

test("events of a stream that expired and began anew come after a gap of unknown length", async () => {
  const jobId = await addJob();
  await writer.append("email", jobId, { type: "token", data: "new" });
  await start(jobId);
  await expect.poll(() => findJob("email", jobId)).toMatchObject({ status: "success" });
  expect(tell(await collect(follow(jobId, "1000-7")))).toEqual([
    "status success",
    "gap null",
    'token "new"',
    "end success",
  ]);
});

test("a job that is removed lets its followers go", async () => {
  const jobId = await addJob();
  const news = follow(jobId);
  await news.next();
  await (await emailQueue.getJob(jobId))?.remove();
  expect(await collect(news)).toEqual([{ kind: "end", job: null }]);
});

test("a follower that no message reaches learns the truth from the record", async () => {
  const polling = createFeed({ pollMs: 50 });
  const jobId = await addJob();
  const news = follow(jobId, undefined, polling);
  await news.next();
  expect((await news.next()).value).toEqual({ kind: "idle" });
  // Nobody is told of this.
  await redis.del(`${prefix}:email:${jobId}`);
  expect(await collect(news)).toEqual([{ kind: "end", job: null }]);
  polling.close();
});

test("any number of followers share one connection, and when they have gone there is none", async () => {
  const brief = createFeed({ lingerMs: 0 });
  const before = connections.length;
  const jobIds = await Promise.all(Array.from({ length: 40 }, () => addJob()));
  const news = jobIds.map((jobId) => follow(jobId, undefined, brief));
  await Promise.all(news.map((each) => each.next()));
  expect(connections.length).toBe(before + 1);
  await Promise.all(jobIds.map(start));
  const ends = await Promise.all(news.map(collect));
  expect(ends.map((end) => end.at(-1))).toEqual(
    jobIds.map((jobId) => ({ kind: "end", job: expect.objectContaining({ jobId, status: "success" }) })),
  );
  await expect.poll(() => connections.at(-1)?.status).toBe("end");
});

test("a follower that leaves is let go at once", async () => {
  const controller = new AbortController();
  const news = feed.follow("email", await addJob(), { signal: controller.signal });
  await news.next();
  const next = news.next();
  controller.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test("a wait ends with its job, and without it when the time is over", async () => {
  const { signal } = new AbortController();
  const jobId = await addJob(async () => ({ messageId: "m-2" }));
  expect(await feed.waitForEnd("email", jobId, { waitMs: 20, signal })).toMatchObject({ status: "pending" });
  const waiting = feed.waitForEnd("email", jobId, { waitMs: 20_000, signal });
  await start(jobId);
  expect(await waiting).toMatchObject({ status: "success", result: { messageId: "m-2" } });
  expect(await feed.waitForEnd("email", "nobody", { waitMs: 20_000, signal })).toBeUndefined();
});
