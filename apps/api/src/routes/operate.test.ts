import { once } from "node:events";
import { emailQueue, getRedisConnection, readQueueEnv, scheduleQueue } from "@millrace/worker-config";
import { Worker } from "bullmq";
import { afterEach, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

afterEach(async () => {
  await emailQueue.resume();
  for (const queue of [emailQueue, scheduleQueue]) await queue.obliterate({ force: true });
});
type Method = "GET" | "POST" | "DELETE";
const ask = (method: Method, url: string, payload?: object) =>
  app().inject({ method, url, headers: bearer, ...(payload && { payload }) });

async function addJob(options: object = {}): Promise<string> {
  return (await ask("POST", "/jobs/email/sendEmail", { data: mail, options })).json().jobId;
}

test("a queue is paused, says so, and goes on", async () => {
  const isPaused = async () => {
    const { queues } = (await ask("GET", "/jobs/stats")).json();
    return queues.find(({ queue }: { queue: string }) => queue === "email").isPaused;
  };
  expect((await ask("POST", "/queues/email/pause")).json()).toEqual({ queue: "email", outcome: "paused" });
  expect((await ask("POST", "/queues/email/pause")).json()).toMatchObject({ outcome: "already_paused" });
  expect(await isPaused()).toBe(true);
  expect((await ask("POST", "/queues/email/resume")).json()).toEqual({ queue: "email", outcome: "resumed" });
  expect(await isPaused()).toBe(false);
  expectProblem(await ask("POST", "/queues/nope/pause"), 404, "unknown_queue");
});

test("a request without a body is none whose header announces JSON, and one that needs a body says so", async () => {
  const headers = { ...bearer, "content-type": "application/json" };
  const post = (url: string) => app().inject({ method: "POST", url, headers });
  expect((await post("/queues/email/pause")).json()).toEqual({ queue: "email", outcome: "paused" });
  expectProblem(await post("/jobs/email/sendEmail"), 400, "invalid_body");
});

test("a drain removes what waits, and what is delayed only where it is asked for", async () => {
  await addJob();
  await addJob({ delayMs: 60_000 });
  expect((await ask("POST", "/queues/email/drain", {})).json()).toMatchObject({ waiting: 1, delayed: 0 });
  expect((await ask("POST", "/queues/email/drain", { delayed: true })).json()).toMatchObject({ delayed: 1 });
  expect(await emailQueue.count()).toBe(0);
});

test("a job that waits for its time is promoted, once", async () => {
  const jobId = await addJob({ delayMs: 60_000 });
  expect((await ask("POST", `/jobs/email/${jobId}/promote`)).json()).toEqual({ queue: "email", jobId });
  expect(await (await emailQueue.getJob(jobId))?.getState()).toBe("waiting");
  expectProblem(await ask("POST", `/jobs/email/${jobId}/promote`), 409, "not_delayed");
  expectProblem(await ask("POST", "/jobs/email/nobody/promote"), 404, "unknown_job");
});

test("a job is removed for good", async () => {
  const jobId = await addJob();
  const response = await ask("DELETE", `/jobs/email/${jobId}`);
  expect([response.statusCode, response.body]).toEqual([204, ""]);
  expectProblem(await ask("GET", `/jobs/email/${jobId}`), 404, "unknown_job");
  expectProblem(await ask("DELETE", `/jobs/email/${jobId}`), 404, "unknown_job");
});

test("a job's details are all that its record says, without its payload; one that has not failed is not retried", async () => {
  const jobId = await addJob({ attempts: 7 });
  const response = await ask("GET", `/jobs/email/${jobId}/details`);
  expect(response.json()).toMatchObject({ jobId, status: "pending", attempts: 0, attemptsAllowed: 7 });
  expect(response.body).not.toContain("MARKER");
  expectProblem(await ask("POST", `/jobs/email/${jobId}/retry`), 409, "not_failed");
});

test("a job of the house is let run now, called off, tried again and removed as any other is", async () => {
  const added = await ask("POST", "/jobs/schedule/purgeDeadLetters", { data: {}, options: { delayMs: 3_600_000 } });
  const url = `/jobs/schedule/${added.json().jobId}`;
  expect((await ask("POST", `${url}/promote`)).statusCode).toBe(202);
  expect((await ask("POST", `${url}/cancel`)).statusCode).toBe(200);
  // Whichever worker takes a job that was called off ends it, and runs nothing.
  const connection = getRedisConnection("worker");
  const worker = new Worker("schedule", async () => {}, { connection, prefix: readQueueEnv().QUEUE_PREFIX });
  await once(worker, "failed");
  await worker.close();
  expect((await ask("POST", `${url}/retry`)).json()).toMatchObject({ queue: "schedule" });
  expect((await ask("GET", url)).json()).toMatchObject({ queue: "schedule", status: "pending" });
  expect((await ask("DELETE", url)).statusCode).toBe(204);
  expectProblem(await ask("POST", "/dead-letters/fax/1/replay"), 404, "unknown_queue");
});

test("workers and failed jobs are listed, where there are none as well", async () => {
  expect((await ask("GET", "/workers?queue=email")).json()).toEqual({ items: [], isCut: false });
  expect((await ask("GET", "/jobs/failed")).json()).toEqual({ items: [], nextCursor: null });
});
