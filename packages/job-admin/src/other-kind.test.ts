import { closeQueues, emailQueue } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { addFlow } from "../test/flows.ts";
import { cancelJob } from "./cancel-job.ts";
import { cancelStuckParents } from "./cancel-stuck-parents.ts";
import { findJob } from "./find-job.ts";
import { readJob } from "./read-job.ts";
import { removeJob } from "./remove-job.ts";
import { sweepCompleted } from "./sweep-completed.ts";
import { sweepIndexes } from "./sweep-indexes.ts";

// The same queue under a wider type.
const queue: Queue = emailQueue;
const threeDaysAgo = Date.now() - 3 * 86_400_000;
const run = async (command: string, ...args: (string | number)[]) =>
  (await queue.getBackend().client).runCommand(command, args);

/** As somebody's hand, or another program, leaves it. */
beforeEach(async () => {
  await run("set", queue.toKey("x"), "text");
});
afterEach(async () => {
  await run("del", queue.toKey("x"), queue.toKey("wait"), queue.toKey("x:dependencies"));
  for (const set of ["completed", "failed", "waiting-children"]) await run("del", queue.toKey(set));
  await queue.obliterate({ force: true });
});
afterAll(() => closeQueues());

test("in the completed set it goes with the others whose time is over", async () => {
  await run("zadd", queue.toKey("completed"), threeDaysAgo, "x", threeDaysAgo + 1, "gone");
  expect(await sweepCompleted()).toBe(2);
  expect(await run("exists", queue.toKey("x"), queue.toKey("completed"))).toBe(0);
  await sweepIndexes();
});

test.each([
  ["wait", "pending"],
  ["failed", "failed"],
])("in %s it is a job with the code corrupt, which cannot be called off", async (list, status) => {
  await (list === "wait" ? run("rpush", queue.toKey(list), "x") : run("zadd", queue.toKey(list), threeDaysAgo, "x"));
  const error = { code: "corrupt", message: "The job cannot run: another kind of key lies in the record's place." };
  expect(await findJob("email", "x")).toMatchObject({ jobId: "x", status, error });
  expect(await readJob("email", "x")).toMatchObject({ jobId: "x", status, error });
  expect(await cancelJob("email", "x")).toMatchObject({ outcome: "corrupt" });
  expect(await removeJob("email", "x")).toBe("removed");
  expect(await run("exists", queue.toKey("x"), queue.toKey(list))).toBe(0);
  expect(await removeJob("email", "x")).toBe("unknown");
});

test("a key that no list of the queue names is not touched", async () => {
  expect(await removeJob("email", "x")).toBe("corrupt");
  expect(await run("exists", queue.toKey("x"))).toBe(1);
});

test("among parents that wait it stays for people to see, and the others are called off", async () => {
  await addFlow({ id: "parent", children: [{ id: "child" }] });
  await run("lrem", queue.toKey("wait"), 0, "child");
  await run("del", queue.toKey("child"));
  await run("zadd", queue.toKey("waiting-children"), 1, "x", 2, "y");
  await run("hset", queue.toKey("y"), "name", "sendEmail");
  await run("set", queue.toKey("y:dependencies"), "text");
  expect(await cancelStuckParents(0)).toBe(1);
  expect(await findJob("email", "parent")).toMatchObject({ status: "cancelled" });
  expect(await run("zcard", queue.toKey("waiting-children"))).toBe(2);
  await run("del", queue.toKey("y"), queue.toKey("y:dependencies"));
});
