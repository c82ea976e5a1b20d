import { emailQueue, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { Worker } from "bullmq";
import { afterEach, describe, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

afterEach(() => emailQueue.obliterate({ force: true }));

async function enqueue(options: object = {}): Promise<string> {
  const url = "/jobs/email/sendEmail";
  const response = await app().inject({ method: "POST", url, headers: bearer, payload: { data: mail, options } });
  expect(response.statusCode).toBe(202);
  return response.json().jobId;
}

function read(jobId: string) {
  return app().inject({ url: `/jobs/email/${jobId}`, headers: bearer });
}

/** Lets one job run to its end. */
async function runOne(process: () => Promise<unknown>): Promise<void> {
  const worker = new Worker("email", process, {
    connection: getRedisConnection("worker"),
    prefix: readQueueEnv().QUEUE_PREFIX,
  });
  await new Promise<void>((resolve) => {
    worker.on("completed", () => resolve());
    worker.on("failed", () => resolve());
  });
  await worker.close();
}

describe("a job's status", () => {
  test("has exactly these fields, and not the payload", async () => {
    const jobId = await enqueue();
    const response = await read(jobId);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      jobId,
      queue: "email",
      action: "sendEmail",
      status: "pending",
      attempts: 0,
      progress: 0,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      dueAt: null,
      startedAt: null,
      finishedAt: null,
      result: null,
      error: null,
    });
  });

  test("shows the result of a success", async () => {
    const jobId = await enqueue();
    await runOne(async () => ({ messageId: "m-1" }));
    expect((await read(jobId)).json()).toMatchObject({
      status: "success",
      attempts: 1,
      startedAt: expect.any(String),
      finishedAt: expect.any(String),
      result: { messageId: "m-1" },
      error: null,
    });
  });

  test("shows code and message of a failure", async () => {
    const jobId = await enqueue({ attempts: 1 });
    await runOne(async () => {
      throw new Error("[smtp_550] no such mailbox");
    });
    expect((await read(jobId)).json()).toMatchObject({
      status: "failed",
      result: null,
      error: { code: "smtp_550", message: "no such mailbox" },
    });
  });

  test("is told, and listed with others, where its times are of another program's counting", async () => {
    const id = await enqueue();
    const client = await emailQueue.getBackend().client;
    await client.hset(emailQueue.toKey(id), { timestamp: String(Date.now() * 1_000) });
    const last = "9999-12-31T23:59:59.999Z";
    expect((await read(id)).json()).toMatchObject({ status: "pending", createdAt: last });
    for (const url of ["/jobs", `/jobs/email/${id}/details`]) {
      const response = await app().inject({ url, headers: bearer });
      expect([response.statusCode, response.body]).toEqual([200, expect.stringContaining(last)]);
    }
  });

  test("may be asked for by HEAD", async () => {
    const jobId = await enqueue();
    const response = await app().inject({ method: "HEAD", url: `/jobs/email/${jobId}`, headers: bearer });
    expect([response.statusCode, response.body]).toEqual([200, ""]);
  });
});

describe("an id", () => {
  test.each(["a", "order_1.x@y+z~k=v-w", "x".repeat(250), "@".repeat(250)])(
    "that an enqueue took is found, plain and percent-encoded",
    async (jobId) => {
      await enqueue({ jobId });
      const everySign = [...jobId].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join("");
      for (const written of [jobId, encodeURIComponent(jobId), everySign]) {
        expect((await read(written)).json()).toMatchObject({ jobId, status: "pending" });
      }
    },
  );

  test.each(["nope", "1", "a%20b", "%00", "%F0%9F%98%80", "..%2Fwebhook", "%3A", "a%3Ab", "sendEmail", "__proto__"])(
    "that is nobody's (%s) is a problem",
    async (jobId) => {
      expectProblem(await read(jobId), 404, "unknown_job");
    },
  );

  test("longer than any that an enqueue takes is nobody's", async () => {
    expectProblem(await read("x".repeat(700)), 404, "unknown_job");
  });

  test.each(["meta", "wait", "id", "events", "marker", "completed", "stalled-check"])(
    "that names a key of the queue itself (%s) is nobody's",
    async (key) => {
      await enqueue();
      expectProblem(await read(key), 404, "unknown_job");
    },
  );
});
