import { closeQueues, emailQueue } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { addFlow } from "../test/flows.ts";
import { runWorker, type TestWorker, untilJob } from "../test/run-worker.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { purgeDeadLetters } from "./purge-dead-letters.ts";
import { replayDeadLetter, replayDeadLetters } from "./replay-dead-letters.ts";

const email: Queue = emailQueue;

let worker: TestWorker;

afterEach(async () => {
  await worker.close();
  await email.obliterate({ force: true });
});
afterAll(() => closeQueues());

test("a parent that failed with its child is replayed after the child, and completes", async () => {
  let isBroken = true;
  const runs: (string | undefined)[] = [];
  worker = await runWorker("email", async ({ id }) => {
    runs.push(id);
    if (isBroken) throw new Error("[smtp_550] no such mailbox");
    return "sent";
  });
  const parentFailed = untilJob(worker, "failed", "parent");
  await addFlow({ id: "parent", children: [{ id: "child", opts: { failParentOnFailure: true } }] });
  await parentFailed;
  const { letters } = await listDeadLetters();
  expect(letters.map(({ jobId, code }) => [jobId, code])).toEqual([
    ["parent", "child_failed"],
    ["child", "smtp_550"],
  ]);
  // It would run, have its effect, and be refused its completion.
  expect(await replayDeadLetter("email", "parent")).toBe("children_open");
  isBroken = false;
  const childDone = untilJob(worker, "completed", "child");
  await email.pause();
  const jobs = ["parent", "child"].map((jobId) => ({ queue: "email" as const, jobId }));
  expect(await replayDeadLetters({ jobs })).toMatchObject({ replayed: 1, refused: { children_open: 1 } });
  expect(await replayDeadLetter("email", "parent")).toBe("children_open");
  await email.resume();
  await childDone;
  const parentDone = untilJob(worker, "completed", "parent");
  expect(await replayDeadLetter("email", "parent")).toBe("replayed");
  await parentDone;
  expect(runs).toEqual(["child", "child", "parent"]);
  expect(await (await email.getJob("parent"))?.getChildrenValues()).toEqual({ [email.toKey("child")]: "sent" });
});

test("a child whose parent still waits for it is not purged, and its replay lets the parent run", async () => {
  let isBroken = true;
  worker = await runWorker("email", async () => {
    if (isBroken) throw new Error("[smtp_550] no such mailbox");
    return "sent";
  });
  const childFailed = untilJob(worker, "failed", "child");
  await addFlow({ id: "parent", children: [{ id: "child" }] });
  await childFailed;
  expect(await purgeDeadLetters({ olderThanMs: 0 })).toMatchObject({ removed: 0, kept: { awaited: 1 } });
  expect(await email.getJobState("parent")).toBe("waiting-children");
  isBroken = false;
  const parentDone = untilJob(worker, "completed", "parent");
  expect(await replayDeadLetter("email", "child")).toBe("replayed");
  await parentDone;
});

test("a child that its parent went on without runs again alone", async () => {
  let isBroken = true;
  const runs: (string | undefined)[] = [];
  worker = await runWorker("email", async ({ id }) => {
    runs.push(id);
    if (isBroken && id === "child") throw new Error("[smtp_550] no such mailbox");
  });
  const parentDone = untilJob(worker, "completed", "parent");
  await addFlow({ id: "parent", children: [{ id: "child", opts: { ignoreDependencyOnFailure: true } }] });
  await parentDone;
  isBroken = false;
  const childDone = untilJob(worker, "completed", "child");
  expect(await replayDeadLetter("email", "child")).toBe("replayed");
  await childDone;
  expect(runs).toEqual(["child", "parent", "child"]);
  expect(await email.getJobState("parent")).toBe("completed");
});
