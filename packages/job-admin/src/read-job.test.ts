import { closeQueues, emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { putFailed } from "../test/failed-jobs.ts";
import { addFlow } from "../test/flows.ts";
import { runWorker, untilJob } from "../test/run-worker.ts";
import { jobDetailsSchema } from "./job-details.ts";
import { readJob } from "./read-job.ts";

// The same queue under wider types.
const email: Queue = emailQueue;
const mail = { to: "bob@example.com", subject: "Hello", text: "Hello Bob" };

afterEach(() => email.obliterate({ force: true }));
afterAll(() => closeQueues());

test("a job that succeeded tells its attempts, its times and its last hundred log lines", async () => {
  const worker = await runWorker("email", async (job) => {
    for (let line = 0; line < 90; line++) await job.log(`line ${line} of attempt ${job.attemptsMade + 1}`);
    if (job.attemptsMade === 0) throw new Error("[smtp_451] mailbox busy");
    return { messageId: "m" };
  });
  const done = untilJob(worker, "completed", "second");
  await enqueue(emailContract, "sendEmail", mail, {
    ...{ jobId: "second", attempts: 4, retryIntervalsMs: [0], meta: { order: 7 } },
  });
  await done;
  await worker.close();
  const job = await readJob("email", "second");
  expect(job).toMatchObject({
    ...{
      status: "success",
      attempts: 2,
      attemptsAllowed: 4,
      starts: 2,
      meta: { order: 7 },
      result: { messageId: "m" },
    },
    ...{ waitMs: null, runMs: expect.any(Number), priority: null, replays: 0, parent: null, children: null },
    logs: { total: 100 },
    attemptLog: [
      { attempt: 1, outcome: "retry", message: "Error: [smtp_451] mailbox busy", startedAt: null },
      { attempt: 2, outcome: "success", message: null, startedAt: job?.startedAt, endedAt: job?.finishedAt },
    ],
  });
  expect(job?.logs.lines).toHaveLength(100);
  expect(job?.logs.lines.at(-1)).toBe("line 89 of attempt 2");
  expect(jobDetailsSchema.parse(job)).toEqual(job);
});

test("a dead letter tells the code of its last failure, and its stack", async () => {
  await putFailed(email, [{ jobId: "letter", code: "smtp_550", message: "no such mailbox" }]);
  const job = await readJob("email", "letter");
  expect(job).toMatchObject({ status: "failed", attempts: 3, error: { code: "smtp_550" } });
  expect(job?.stack).toContain("at here");
  expect(job?.attemptLog.map(({ outcome, code, message }) => [outcome, code, message])).toEqual([
    ["retry", null, null],
    ["retry", null, "Error: first"],
    ["failed", "smtp_550", "Error: no such mailbox"],
  ]);
});

test("a running job has an attempt that runs, and a flow shows who waits for whom", async () => {
  await addFlow({ id: "parent", children: [{ id: "one" }, { id: "two" }] });
  const worker = await runWorker("email", null);
  expect((await worker.getNextJob("held"))?.id).toBe("one");
  const one = await readJob("email", "one");
  expect(one).toMatchObject({ status: "running", parent: { queue: "email", jobId: "parent" } });
  expect(one?.attemptLog).toMatchObject([{ attempt: 1, outcome: "running", startedAt: one?.startedAt, endedAt: null }]);
  const parent = await readJob("email", "parent");
  expect(parent?.children).toMatchObject({ open: 2, succeeded: 0, failed: 0 });
  expect(parent?.children?.openJobs.map(({ jobId }) => jobId).sort()).toEqual(["one", "two"]);
  await worker.close(true);
});

test("a damaged record tells what it can, and nobody's job is nothing", async () => {
  await putFailed(email, [{ jobId: "damaged", fields: { data: "{", opts: "7", stacktrace: "[", parent: "{" } }]);
  expect(await readJob("email", "damaged")).toMatchObject({ error: { code: "corrupt" }, meta: {}, stack: null });
  expect(await readJob("email", "nobody")).toBeUndefined();
});
