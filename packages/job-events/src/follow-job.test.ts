import { findJob } from "@millrace/job-admin";
import { createRedis } from "@millrace/redis";
import { closeQueues, emailQueue, enqueue } from "@millrace/worker-config";
import { emailContract } from "@millrace/worker-config/contracts";
import { afterAll, expect, test } from "vitest";
import { eventStreamKey } from "./create-job-event-writer.ts";
import { createJobEventFeed, createJobEventWriter, type JobEventFeedOptions } from "./index.ts";

const prefix = process.env.QUEUE_PREFIX ?? "";
const connect = () => createRedis("events", process.env.REDIS_URL ?? "", () => {});
const redis = connect();
const writer = createJobEventWriter({ redis, prefix });
const mail = { to: "ada@example.com", subject: "x", text: "x" };

afterAll(() => Promise.all([closeQueues(), redis.quit()]));

/** Follows a job that waits for an hour. */
async function followOne(options: Partial<JobEventFeedOptions> = {}) {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { delayMs: 3_600_000 });
  const feed = createJobEventFeed({ connect, prefix, findJob, ...options });
  const news = feed.follow("email", jobId, { signal: new AbortController().signal });
  expect((await news.next()).value).toMatchObject({ kind: "status", job: { status: "pending" } });
  return { jobId, feed, news };
}

test("of a long stream a follower holds a few events, however slowly they are taken", async () => {
  const { jobId, feed, news } = await followOne();
  for (let number = 1; number <= 40; number += 1) await writer.append("email", jobId, { type: "log", data: number });
  expect((await news.next()).value).toMatchObject({ kind: "event", json: "1" });
  // What it has still to tell now is what it held.
  await redis.del(eventStreamKey(prefix, "email", jobId));
  await (await emailQueue.getJob(jobId))?.remove();
  const rest: string[] = [];
  for await (const { kind } of news) rest.push(kind);
  expect(rest.at(-1)).toBe("end");
  expect(rest.filter((kind) => kind === "event").length).toBeLessThan(8);
  feed.close();
});

test("what wakes a follower and is no news is no reason for a comment", async () => {
  let looks = 0;
  const countLooks: typeof findJob = (queue, jobId) => {
    looks += 1;
    return findJob(queue, jobId);
  };
  const { jobId, feed, news } = await followOne({ findJob: countLooks, pollMs: 60_000 });
  const next = news.next();
  for (const expected of [2, 3]) {
    await redis.xadd(`${prefix}:email:events`, "*", "event", "waiting", "jobId", jobId);
    await expect.poll(() => looks).toBe(expected);
  }
  await (await emailQueue.getJob(jobId))?.remove();
  expect((await next).value).toEqual({ kind: "end", job: null });
  feed.close();
});
