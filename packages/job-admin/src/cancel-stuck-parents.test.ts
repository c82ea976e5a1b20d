import { closeQueues, emailQueue } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { addFlow, type FlowNode } from "../test/flows.ts";
import { cancelStuckParents } from "./cancel-stuck-parents.ts";
import { findJob } from "./find-job.ts";

// The same queue under a wider type.
const email: Queue = emailQueue;

afterEach(async () => {
  await email.resume();
  await email.obliterate({ force: true });
});
afterAll(() => closeQueues());

const statusOf = async (jobId: string) => (await findJob("email", jobId))?.status;

/** As a child that failed without a word to its parent. */
async function failSilently(jobId: string): Promise<void> {
  const client = await email.getBackend().client;
  await client.runCommand("lrem", [email.toKey("wait"), 0, jobId]);
  await client.runCommand("zadd", [email.toKey("failed"), Date.now(), jobId]);
  await client.runCommand("hset", [email.toKey(jobId), "finishedOn", Date.now(), "failedReason", "away"]);
}

test("a parent whose children have all ended without a word is called off when it has waited for too long", async () => {
  await addFlow({ id: "parent", children: [{ id: "silent" }, { id: "gone" }] });
  await failSilently("silent");
  await failSilently("gone");
  const client = await email.getBackend().client;
  await client.runCommand("del", [email.toKey("gone")]);
  await client.runCommand("zrem", [email.toKey("failed"), "gone"]);
  expect(await cancelStuckParents(60_000)).toBe(0);
  expect(await statusOf("parent")).toBe("pending");
  expect(await cancelStuckParents(0)).toBe(1);
  expect(await statusOf("parent")).toBe("cancelled");
  expect(await statusOf("silent")).toBe("failed");
});

test.each<[does: string, child: FlowNode]>([
  ["waits", { id: "child" }],
  ["waits with a priority", { id: "child", opts: { priority: 5 } }],
  ["is delayed by nearly a year", { id: "child", opts: { delay: 360 * 86_400_000 } }],
  ["lies in a queue that is not ours", { id: "child", queue: "foreign" }],
  ["waits for a child itself", { id: "child", children: [{ id: "grandchild" }] }],
])("a parent is not called off while a child of it %s", async (_, child) => {
  await addFlow({ id: "parent", children: [{ id: "silent" }, child] });
  await failSilently("silent");
  expect(await cancelStuckParents(0)).toBe(0);
  expect(await statusOf("parent")).toBe("pending");
});

test("a parent is not called off while a child of it waits in a paused queue", async () => {
  await email.pause();
  await addFlow({ id: "parent", children: [{ id: "child" }] });
  expect(await cancelStuckParents(0)).toBe(0);
  expect(await statusOf("child")).toBe("pending");
});
