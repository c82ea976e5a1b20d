import { closeQueues, emailContract, emailQueue, enqueue, queues, redrive } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { putFailed } from "../test/failed-jobs.ts";
import { runWorker, type TestWorker, untilJob } from "../test/run-worker.ts";
import { findJob } from "./find-job.ts";

const mail = { to: "bob@example.com", subject: "Hello", text: "Hello Bob" };
const template = { name: "sendEmail", data: { type: "sendEmail", data: mail } } as const;
// The same queue under wider types: BullMQ takes a scheduler's id for the name of a job.
const schedulers: Queue = emailQueue;
const workers: TestWorker[] = [];

async function start(...args: Parameters<typeof runWorker>): Promise<TestWorker> {
  const worker = await runWorker(...args);
  workers.push(worker);
  return worker;
}

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await emailQueue.obliterate({ force: true });
});

afterAll(() => closeQueues());

async function add(options: Parameters<typeof enqueue>[3] = {}): Promise<string> {
  return (await enqueue(emailContract, "sendEmail", mail, options)).jobId;
}

describe("a job that no worker has taken", () => {
  test.each([{}, { delayMs: 60_000 }, { priority: 3 }])("enqueued with %j is pending", async (options) => {
    const jobId = await add(options);
    const job = await findJob("email", jobId);
    expect(job).toEqual({
      jobId,
      queue: "email",
      action: "sendEmail",
      status: "pending",
      attempts: 0,
      progress: 0,
      createdAt: expect.stringMatching(/^20\d\d-.*Z$/),
      dueAt: options.delayMs === undefined ? null : expect.stringMatching(/^20\d\d-.*Z$/),
      startedAt: null,
      finishedAt: null,
      result: null,
      error: null,
    });
    const delayedMs = Date.parse(job?.dueAt ?? job?.createdAt ?? "") - Date.parse(job?.createdAt ?? "");
    // Redis and this process may date an add a moment apart.
    expect(Math.abs(delayedMs - (options.delayMs ?? 0))).toBeLessThan(1_000);
  });

  test("and that is to run at once, as a parent whose child went into quarantine, is due at no time of its own", async () => {
    const jobId = await add({ delayMs: 60_000 });
    const client = await emailQueue.getBackend().client;
    await client.runCommand("zadd", [emailQueue.toKey("delayed"), 0, jobId]);
    expect(await findJob("email", jobId)).toMatchObject({ status: "pending", dueAt: null });
  });

  test("is found under the id that its producer chose, also one with every sign that ids may have", async () => {
    const jobId = "order_1.a@b+c~d=e-f";
    await add({ jobId });
    expect(await findJob("email", jobId)).toMatchObject({ jobId, status: "pending" });
  });

  test("is found under the id that a scheduler gave it", async () => {
    const job = await schedulers.upsertJobScheduler("nightly", { every: 86_400_000 }, template);
    expect(job?.id).toMatch(/^repeat:nightly:\d+$/);
    expect(await findJob("email", job?.id ?? "")).toMatchObject({ jobId: job?.id, status: "pending" });
    await schedulers.removeJobScheduler("nightly");
  });
});

test("a running job is running, with its start and its progress", async () => {
  const release = Promise.withResolvers<void>();
  const worker = await start("email", async (job) => {
    await job.updateProgress(40);
    await release.promise;
  });
  const progressed = new Promise((resolve) => worker.on("progress", resolve));
  const jobId = await add();
  await progressed;
  expect(await findJob("email", jobId)).toMatchObject({
    status: "running",
    progress: 40,
    startedAt: expect.any(String),
    finishedAt: null,
  });
  release.resolve();
});

test("a job that failed and waits for its next attempt is retrying, and tells its last failure", async () => {
  const worker = await start("email", async () => {
    throw new Error("[smtp_451] mailbox busy");
  });
  const jobId = "retrying";
  const failed = untilJob(worker, "failed", jobId);
  await add({ jobId, attempts: 2, retryIntervalsMs: [60_000] });
  await failed;
  expect(await findJob("email", jobId)).toMatchObject({
    status: "retrying",
    attempts: 1,
    finishedAt: null,
    error: { code: "smtp_451", message: "mailbox busy" },
  });
});

test("a job that succeeded at its second attempt is a success with its result, and no error any more", async () => {
  const worker = await start("email", async (job) => {
    if (job.attemptsMade === 0) throw new Error("[smtp_451] mailbox busy");
    return { messageId: "m-1" };
  });
  const jobId = "second-attempt";
  const completed = untilJob(worker, "completed", jobId);
  await add({ jobId, retryIntervalsMs: [0] });
  await completed;
  expect(await findJob("email", jobId)).toMatchObject({
    status: "success",
    attempts: 2,
    result: { messageId: "m-1" },
    error: null,
    finishedAt: expect.any(String),
  });
});

test("a job out of attempts is failed, with its code", async () => {
  const worker = await start("email", async () => {
    throw new Error("[smtp_550] no such mailbox");
  });
  const jobId = "out-of-attempts";
  const failed = untilJob(worker, "failed", jobId);
  await add({ jobId, attempts: 1 });
  await failed;
  expect(await findJob("email", jobId)).toMatchObject({
    status: "failed",
    attempts: 1,
    result: null,
    error: { code: "smtp_550", message: "no such mailbox" },
  });
});

test("a job whose worker died once too often is failed with the code poison", async () => {
  const jobId = "left-behind";
  await add({ jobId });
  // Takes the job and never comes back.
  const lost = await start("email", null, { lockDuration: 50, skipLockRenewal: true });
  expect((await lost.getNextJob("lost"))?.id).toBe(jobId);
  const watcher = await start("email", async () => {}, { stalledInterval: 50, maxStalledCount: 0, autorun: false });
  const failed = untilJob(watcher, "failed", jobId);
  // Ends with the worker.
  watcher.run().catch(() => {});
  await failed;
  expect(await findJob("email", jobId)).toMatchObject({ status: "failed", error: { code: "poison" } });
});

test("a success is never seen without its result, and no job goes back to an earlier status", async () => {
  await start("email", async () => ({ messageId: "m" }), { concurrency: 5 });
  const order = ["pending", "running", "success"];
  const follow = async (index: number) => {
    const jobId = await add({ jobId: `followed-${index}` });
    const seen = [];
    for (;;) {
      const job = await findJob("email", jobId);
      seen.push(job?.status ?? "gone");
      if (job?.status === "success") {
        expect(job).toMatchObject({ result: { messageId: "m" }, finishedAt: expect.any(String) });
        expect(seen).toEqual(seen.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)));
        return;
      }
    }
  };
  for (let index = 0; index < 60; index++) await follow(index);
});

describe("nothing is found", () => {
  test.each(["nope", "42", "a b", "ä😀", "../email", "\0", "%00", "", " "])("under %j", async (jobId) => {
    expect(await findJob("email", jobId)).toBeUndefined();
  });

  test("under the names of the queue's own keys, whatever they hold", async () => {
    const worker = await start("email", async () => {});
    const completed = untilJob(worker, "completed", "done");
    await add({ jobId: "done", delayMs: 1 });
    await completed;
    await schedulers.upsertJobScheduler("nightly", { every: 86_400_000 }, template);
    for (const key of [...Object.keys(emailQueue.keys), "done:lock", "done:logs", "repeat:nightly", "de:key"]) {
      expect(await findJob("email", key), key).toBeUndefined();
    }
    await schedulers.removeJobScheduler("nightly");
  });

  test("of a job in another queue", async () => {
    const jobId = await add({ jobId: "mine" });
    expect(await findJob("webhook", jobId)).toBeUndefined();
  });

  test("of a job that keeps no record once it ended", async () => {
    const worker = await start("email", async () => {});
    const completed = untilJob(worker, "completed", "wake-up");
    await emailQueue.add("sendEmail", { type: "sendEmail", data: mail }, { jobId: "wake-up", ...redrive() });
    await completed;
    expect(await findJob("email", "wake-up")).toBeUndefined();
  });
});

test.each([0, 1, 2, 3])(
  "a delayed job that is removed after %d of the questions is told with its time, or not at all",
  async (questions) => {
    const client = await emailQueue.getBackend().client;
    const jobId = await add({ delayMs: 60_000 });
    const job = await emailQueue.getJob(jobId);
    const asked = findJob("email", jobId);
    // On the same connection, so that each is answered with one of the questions.
    for (let answered = 0; answered < questions; answered += 1) await client.runCommand("ping", []);
    await job?.remove();
    expect([undefined, expect.stringMatching(/^20/)]).toContainEqual((await asked)?.dueAt);
  },
);

test.each([0, 1, 2])(
  "a dead letter that is replayed after %d of the questions is told as it was with its reason, or as it is without one",
  async (questions) => {
    const client = await emailQueue.getBackend().client;
    const jobId = `replayed-${questions}`;
    await putFailed(schedulers, [{ jobId }]);
    const job = await emailQueue.getJob(jobId);
    const asked = findJob("email", jobId);
    for (let answered = 0; answered < questions; answered += 1) await client.runCommand("ping", []);
    await job?.retry("failed", { resetAttemptsMade: true });
    const { status, finishedAt, error } = (await asked) ?? {};
    expect([
      ["failed", expect.any(String), { code: "smtp_550", message: "no such mailbox" }],
      ["pending", null, null],
    ]).toContainEqual([status, finishedAt, error]);
  },
);

test("every queue can be asked", async () => {
  const names = ["email", "webhook", "aiAgent", "default", "quota"] as const;
  expect(Object.keys(queues)).toEqual(expect.arrayContaining([...names]));
  for (const name of names) expect(await findJob(name, "nope")).toBeUndefined();
});
