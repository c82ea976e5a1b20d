import { closeQueues, emailQueue, getRedisConnection, readQueueEnv, webhookQueue } from "@millrace/worker-config";
import { cancelChannel, cancelledReason } from "@millrace/worker-config/contracts";
import type { JobsOptions, Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { addFlow } from "../test/flows.ts";
import { runWorker, type TestWorker, untilJob } from "../test/run-worker.ts";
import { cancelJob } from "./cancel-job.ts";
import { findJob } from "./find-job.ts";
import { markCancelled } from "./mark-cancelled.ts";

// The same queues under wider types.
const email: Queue = emailQueue;
const webhook: Queue = webhookQueue;
const workers: TestWorker[] = [];

async function start(...args: Parameters<typeof runWorker>): Promise<TestWorker> {
  const worker = await runWorker(...args);
  workers.push(worker);
  return worker;
}

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await Promise.all([email, webhook].map((queue) => queue.obliterate({ force: true })));
});
afterAll(() => closeQueues());

const statusOf = async (jobId: string, queue: "email" | "webhook" = "email") => (await findJob(queue, jobId))?.status;
const untilState = (jobId: string, state: string, queue: Queue = email) =>
  vi.waitFor(async () => expect(await queue.getJobState(jobId), jobId).toBe(state), 10_000);

// Each of them would fail its parent, in its own words, were it only cancelled.
const fatal: JobsOptions = { failParentOnFailure: true };
const family = {
  id: "parent",
  children: [
    { id: "waiting", opts: fatal },
    { id: "urgent", opts: { ...fatal, priority: 1 } },
    { id: "in-a-minute", opts: { ...fatal, delay: 60_000 } },
    { id: "middle", opts: fatal, children: [{ id: "far", queue: "webhook", opts: fatal }] },
  ],
};

test("a parent is called off with all its descendants, in every queue, and no worker runs any of them", async () => {
  await addFlow(family);
  const children = { cancelled: 5, cancelling: 0, finished: 0, left: 0 };
  expect(await cancelJob("email", "parent")).toEqual({ outcome: "cancelled", children, parent: null });
  for (const jobId of ["parent", "waiting", "urgent", "in-a-minute", "middle"]) {
    expect(await statusOf(jobId), jobId).toBe("cancelled");
  }
  expect(await statusOf("far", "webhook")).toBe("cancelled");
  const run = vi.fn(async () => {});
  await Promise.all([start("email", run), start("webhook", run)]);
  for (const jobId of ["parent", "waiting", "urgent", "in-a-minute", "middle"]) await untilState(jobId, "failed");
  await untilState("far", "failed", webhook);
  expect(run).not.toHaveBeenCalled();
  // It ended of its own cancellation, not of a child's.
  expect((await email.getJob("parent"))?.failedReason).toBe(cancelledReason);
  expect((await cancelJob("email", "parent")).outcome).toBe("finished");
});

test("a child that runs is told, one that has ended stays, and the parent waits for neither", async () => {
  const subscriber = new Redis({ ...getRedisConnection("events") });
  const told = new Set<string>();
  await subscriber.subscribe(cancelChannel(readQueueEnv().QUEUE_PREFIX, "email"));
  subscriber.on("message", (_, jobId: string) => told.add(jobId));
  const finish = Promise.withResolvers<void>();
  const worker = await start("email", async ({ id }) => (id === "runs" ? finish.promise : undefined), {
    concurrency: 2,
  });
  const reached = Promise.all([untilJob(worker, "completed", "ended"), untilJob(worker, "active", "runs")]);
  await addFlow({
    id: "parent",
    children: [{ id: "ended" }, { id: "runs" }, { id: "later", opts: { delay: 60_000 } }],
  });
  await reached;
  expect(await cancelJob("email", "parent")).toMatchObject({
    outcome: "cancelled",
    children: { cancelled: 1, cancelling: 1, finished: 0, left: 0 },
  });
  await untilState("parent", "failed");
  expect(await statusOf("parent")).toBe("cancelled");
  expect(await statusOf("runs")).toBe("running");
  expect([...told].toSorted()).toEqual(["later", "parent", "runs"]);
  expect(await statusOf("ended")).toBe("success");
  finish.resolve();
  await untilState("runs", "completed");
  subscriber.disconnect();
});

describe("a child alone", () => {
  test.each<[string, JobsOptions, string, string]>([
    ["without an option", {}, "fails", "failed"],
    ["with failParentOnFailure", fatal, "fails", "failed"],
    ["with continueParentOnFailure", { continueParentOnFailure: true }, "runs", "active"],
    ["with ignoreDependencyOnFailure", { ignoreDependencyOnFailure: true }, "waits", "waiting-children"],
    ["with removeDependencyOnFailure", { removeDependencyOnFailure: true }, "waits", "waiting-children"],
  ])("%s: its siblings go on, and its parent does what the answer says", async (_, opts, effect, parentState) => {
    const held = { sibling: Promise.withResolvers<void>(), parent: Promise.withResolvers<void>() };
    const hold = async ({ id }: { id?: string | undefined }) => held[id === "parent" ? "parent" : "sibling"].promise;
    const worker = await start("email", hold, { concurrency: 3 });
    const runs = untilJob(worker, "active", "sibling");
    await addFlow({ id: "parent", children: [{ id: "sibling" }, { id: "child", opts: { ...opts, delay: 60_000 } }] });
    await runs;
    const children = { cancelled: 0, cancelling: 0, finished: 0, left: 0 };
    const parent = { queue: "email", jobId: "parent", effect };
    expect(await cancelJob("email", "child")).toEqual({ outcome: "cancelled", children, parent });
    await untilState("child", "failed");
    await untilState("parent", parentState);
    expect(await email.getJobState("sibling")).toBe("active");
    if (effect === "fails") expect((await findJob("email", "parent"))?.error?.code).toBe("child_failed");
    held.sibling.resolve();
    await untilState("sibling", "completed");
    held.parent.resolve();
    await untilState("parent", effect === "fails" ? "failed" : "completed");
  });

  test("fails every ancestor that would wait for ever, up to one whose flow says otherwise", async () => {
    await addFlow({
      id: "top",
      children: [
        {
          id: "upper",
          opts: { ignoreDependencyOnFailure: true },
          children: [{ id: "lower", children: [{ id: "child" }] }],
        },
      ],
    });
    expect((await cancelJob("email", "child")).parent).toMatchObject({ jobId: "lower", effect: "fails" });
    await start("email", async () => {});
    for (const jobId of ["child", "lower", "upper"]) await untilState(jobId, "failed");
    await untilState("top", "completed");
  });
});

test("a cancellation that broke off half-way is taken up by the next", async () => {
  await addFlow(family);
  await markCancelled(email, "email", "parent", undefined);
  await cancelJob("email", "middle");
  expect(await email.getJobState("parent")).toBe("waiting-children");
  expect(await cancelJob("email", "parent")).toMatchObject({ outcome: "cancelled", children: { cancelled: 5 } });
  await start("email", async () => {});
  await untilState("parent", "failed");
  expect(await statusOf("parent")).toBe("cancelled");
});

test("a job that has ended keeps its children", async () => {
  const worker = await start("email", async () => {
    throw new Error("[smtp_550] no such mailbox");
  });
  const failed = untilJob(worker, "failed", "parent");
  await addFlow({
    id: "parent",
    children: [
      { id: "dies", opts: fatal },
      { id: "later", opts: { delay: 60_000 } },
    ],
  });
  await failed;
  expect(await cancelJob("email", "parent")).toMatchObject({ outcome: "finished", children: { cancelled: 0 } });
  expect(await statusOf("later")).toBe("pending");
});

test("a child in a queue that is not ours is left, and said to be", async () => {
  await addFlow({ id: "parent", children: [{ id: "foreign", queue: "elsewhere" }, { id: "ours" }] });
  expect(await cancelJob("email", "parent")).toMatchObject({
    outcome: "cancelled",
    children: { cancelled: 1, left: 1 },
  });
});
