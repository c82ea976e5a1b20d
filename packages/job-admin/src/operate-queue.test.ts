import { closeQueues, emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { putFailed } from "../test/failed-jobs.ts";
import { addFlow } from "../test/flows.ts";
import { runWorker, untilJob } from "../test/run-worker.ts";
import { drainQueue } from "./drain-queue.ts";
import { findJob } from "./find-job.ts";
import { pauseQueue, resumeQueue } from "./pause-queue.ts";
import { promoteJob } from "./promote-job.ts";
import { readStats } from "./read-stats.ts";
import { removeJob } from "./remove-job.ts";

// The same queue under wider types.
const email: Queue = emailQueue;
const mail = { to: "bob@example.com", subject: "Hello", text: "Hello Bob" };

afterEach(() => email.obliterate({ force: true }));
afterAll(() => closeQueues());

async function add(options: Parameters<typeof enqueue>[3] = {}): Promise<string> {
  return (await enqueue(emailContract, "sendEmail", mail, options)).jobId;
}

test("a paused queue starts nothing until it is resumed, and each says when there was nothing to do", async () => {
  expect([await pauseQueue("email"), await pauseQueue("email")]).toEqual(["paused", "already_paused"]);
  const worker = await runWorker("email", async () => {});
  const done = untilJob(worker, "completed", "late");
  await add({ jobId: "late" });
  expect((await readStats(["email"])).queues[0]).toMatchObject({ isPaused: true, pending: 1 });
  expect(await worker.getNextJob("asked", { block: false })).toBeUndefined();
  expect([await resumeQueue("email"), await resumeQueue("email")]).toEqual(["resumed", "not_paused"]);
  await done;
  await worker.close();
});

test("a drain takes what waits, delayed jobs only when asked, and leaves what runs and what has ended", async () => {
  const holder = await runWorker("email", null);
  await add({ jobId: "runs" });
  await holder.getNextJob("held");
  await putFailed(email, [{ jobId: "letter" }]);
  const job = { name: "sendEmail", data: { type: "sendEmail", data: mail } };
  await email.addBulk(Array.from({ length: 60 }, () => job));
  await add({ priority: 3 });
  await add({ jobId: "later", delayMs: 60_000 });
  expect(await drainQueue("email")).toEqual({ waiting: 61, delayed: 0, isStopped: false });
  expect(await drainQueue("email", { delayed: true })).toEqual({ waiting: 0, delayed: 1, isStopped: false });
  expect((await findJob("email", "runs"))?.status).toBe("running");
  expect((await findJob("email", "letter"))?.status).toBe("failed");
  await holder.close(true);
});

test("a drain that is told to stop does so between two hundreds, and says what it has removed", async () => {
  const job = { name: "sendEmail", data: { type: "sendEmail", data: mail } };
  for (let part = 0; part < 7; part += 1) await email.addBulk(Array.from({ length: 30 }, () => job));
  const leaving = new AbortController();
  email.once("cleaned", () => leaving.abort());
  const stopped = await drainQueue("email", { delayed: true }, leaving.signal);
  expect(stopped).toEqual({ waiting: 200, delayed: 0, isStopped: true });
  expect(await email.getWaitingCount()).toBe(10);
  expect(await drainQueue("email")).toEqual({ waiting: 10, delayed: 0, isStopped: false });
});

test("a delayed job is promoted, any other is left as it is", async () => {
  await add({ jobId: "later", delayMs: 60_000 });
  expect(await promoteJob("email", "later")).toBe("promoted");
  expect(await email.getJobState("later")).toBe("waiting");
  expect(await promoteJob("email", "later")).toBe("not_delayed");
  for (const nobody of ["nobody", "wait", "a:b"]) expect(await promoteJob("email", nobody)).toBe("unknown");
});

test("jobs that wait, are delayed or have ended are removed, damaged letters as well", async () => {
  const worker = await runWorker("email", async () => {});
  const done = untilJob(worker, "completed", "ended");
  await add({ jobId: "ended" });
  await done;
  await worker.close();
  await add({ jobId: "waits" });
  await add({ jobId: "later", delayMs: 60_000 });
  await putFailed(email, [{ jobId: "letter" }, { jobId: "damaged", fields: { data: "{" } }]);
  for (const jobId of ["ended", "waits", "later", "letter", "damaged"]) {
    expect(await removeJob("email", jobId), jobId).toBe("removed");
    expect(await findJob("email", jobId), jobId).toBeUndefined();
    expect(await removeJob("email", jobId), jobId).toBe("unknown");
  }
  expect(await removeJob("email", "meta")).toBe("unknown");
});

test("a job is not removed that runs, that its parent waits for, or that waits for children", async () => {
  const holder = await runWorker("email", null);
  await add({ jobId: "runs" });
  await holder.getNextJob("held");
  await addFlow({ id: "parent", children: [{ id: "child" }] });
  expect(await removeJob("email", "runs")).toBe("active");
  expect(await removeJob("email", "child")).toBe("awaited");
  expect(await removeJob("email", "parent")).toBe("children_open");
  expect((await findJob("email", "child"))?.status).toBe("pending");
  await holder.close(true);
});
