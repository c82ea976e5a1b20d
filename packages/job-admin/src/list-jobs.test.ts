import { ForeignCursorError } from "@millrace/page-cursor";
import {
  closeQueues,
  emailContract,
  emailQueue,
  enqueue,
  readQueueEnv,
  searchKey,
  webhookContract,
  webhookQueue,
} from "@millrace/worker-config";
import { formatJobSkip } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { z } from "zod";
import { putFailed } from "../test/failed-jobs.ts";
import { runWorker, untilJob } from "../test/run-worker.ts";
import { cancelJob } from "./cancel-job.ts";
import { jobListSchema, listJobs } from "./list-jobs.ts";
import { removeJob } from "./remove-job.ts";
import { sweepIndexes } from "./sweep-indexes.ts";

// The same queues under wider types.
const email: Queue = emailQueue;
const webhook: Queue = webhookQueue;
const ada = { name: "to", value: "ada@example.com" };
const workspaceId = "7b0c2f0e-5d3b-4c47-9a58-0d2a1f6f0b11";

afterEach(() => Promise.all([email, webhook].map((queue) => queue.obliterate({ force: true }))));
afterAll(() => closeQueues());

async function add(jobId: string, to: string, more: object = {}, options: object = {}): Promise<void> {
  await enqueue(emailContract, "sendEmail", { to, subject: "Hello", text: "Hi", ...more }, { jobId, ...options });
}

async function idsOf(...args: Parameters<typeof listJobs>): Promise<string[]> {
  const list = await listJobs(...args);
  expect(jobListSchema.parse(list)).toEqual(list);
  return list.jobs.map(({ jobId }) => jobId);
}

test("jobs are found by a field of their payload and by their workspace, the newest first, and no others", async () => {
  await add("one", "ada@example.com");
  await add("two", "bob@example.com", { workspaceId });
  await expect.poll(() => Date.now()).toBeGreaterThan((await email.getJob("two"))?.timestamp ?? 0);
  await enqueue(emailContract, "sendEmail", {
    ...{ to: { address: "ada@example.com" }, subject: "Hello", text: "Hi", workspaceId },
  });
  const [newest] = await idsOf({ field: ada });
  expect(await idsOf({ field: ada })).toEqual([newest, "one"]);
  expect(await idsOf({ workspaceId })).toEqual([newest, "two"]);
  expect(await idsOf({ workspaceId, field: ada, queue: "email", status: "pending", action: "sendEmail" })).toEqual([
    newest,
  ]);
  expect(await idsOf({ field: ada, to: "2020-01-01T00:00:00Z" })).toEqual([]);
  expect(await idsOf({ field: ada, to: "2300-01-01T00:00:00Z" })).toEqual([newest, "one"]);
  expect(await idsOf({ field: { name: "to", value: "ada" } })).toEqual([]);
  const first = await listJobs({ field: ada }, { limit: 1 });
  expect(await idsOf({ field: ada }, { limit: 1, cursor: first.cursor ?? "" })).toEqual(["one"]);
  await expect(listJobs({ field: { name: "subject", value: "Hello" } })).rejects.toThrow(/to, endpointId/);
});

test("no value lies in the index, and a job that is gone, or whose id was taken again, leaves it at the next look, or with the sweep", async () => {
  const client = await email.getBackend().client;
  const key = searchKey(readQueueEnv().QUEUE_PREFIX, "email", "to");
  const entries = async () => {
    const all: string[] = z.array(z.string()).parse(await client.runCommand("zrange", [key, 0, -1]));
    return all.filter((entry) => entry.endsWith(":gone")).join(" ");
  };
  await add("gone", ada.value);
  expect(await entries()).toMatch(/^[\w-]{22}:\d{13}:gone$/);
  expect(await client.runCommand("pttl", [key])).toBeGreaterThan(30 * 24 * 60 * 60_000);
  await removeJob("email", "gone");
  await expect.poll(() => Date.now()).toBeGreaterThan(Number((await entries()).split(":")[1]));
  await add("gone", "bob@example.com");
  expect(await idsOf({ field: ada })).toEqual([]);
  expect(await entries()).toMatch(/^[\w-]{22}:\d{13}:gone$/);
  expect(await idsOf({ field: { name: "to", value: "bob@example.com" } })).toEqual(["gone"]);
  await removeJob("email", "gone");
  expect(await sweepIndexes()).toBeGreaterThan(0);
  expect(await entries()).toBe("");
});

test("without a field jobs come by what they do, and each status has its own", async () => {
  const worker = await runWorker("email", async (job) => {
    if (job.id === "skipped") return formatJobSkip({ code: "nothing_to_do", message: "no" });
    if (job.id === "retrying") throw new Error("[smtp_451] mailbox busy");
  });
  const done = [
    untilJob(worker, "completed", "skipped"),
    untilJob(worker, "completed", "done"),
    untilJob(worker, "failed", "retrying"),
  ];
  await add("skipped", "a@example.com");
  await add("done", "a@example.com");
  await add("retrying", "a@example.com", {}, { attempts: 2, retryIntervalsMs: [60_000] });
  await Promise.all(done);
  await worker.close();
  await add("first", "a@example.com");
  await add("second", "a@example.com");
  await add("urgent", "a@example.com", {}, { priority: 1 });
  const holder = await runWorker("email", null);
  await holder.getNextJob("held");
  await putFailed(email, [{ jobId: "letter" }, { jobId: "called-off", code: "cancelled" }]);
  await putFailed(webhook, [{ jobId: "damaged", fields: { name: "" } }]);
  const byStatus = async (status: NonNullable<Parameters<typeof listJobs>[0]>["status"]) => idsOf({ status });
  expect(await byStatus("running")).toEqual(["first"]);
  expect(await byStatus("pending")).toEqual(["second", "urgent"]);
  expect(await byStatus("retrying")).toEqual(["retrying"]);
  expect(await byStatus("success")).toEqual(["done"]);
  expect(await idsOf({ status: "success", from: new Date(Date.now() - 60_000).toISOString() })).toEqual(["done"]);
  expect(await byStatus("skipped")).toEqual(["skipped"]);
  expect(await byStatus("cancelled")).toEqual(["called-off"]);
  expect((await byStatus("failed")).sort()).toEqual(["damaged", "letter"]);
  const all = await listJobs();
  expect(all.jobs).toHaveLength(9);
  expect(all.jobs.find(({ jobId }) => jobId === "damaged")).toMatchObject({ action: null, error: { code: "corrupt" } });
  const paged: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await listJobs({}, { limit: 2, ...(cursor && { cursor }) });
    paged.push(...page.jobs.map(({ jobId }) => jobId));
    cursor = page.cursor;
  }
  expect(paged).toEqual(all.jobs.map(({ jobId }) => jobId));
  await holder.close(true);
});

test.each<[string, (second: number) => object]>([
  ["wait", () => ({})],
  ["prioritized", () => ({ priority: 5 })],
  // Due when a score is no safe integer any more; a second apart, since a delay is reckoned from the moment of each add.
  ["delayed", (second) => ({ runAt: `2100-01-01T00:00:0${second}Z` })],
])("what stays in %s while others leave before it and come is shown once", async (_, optionsOf) => {
  const ids = Array.from({ length: 9 }, (_, index) => `job-${index}`);
  for (const [index, id] of ids.entries()) await add(id, "a@example.com", {}, optionsOf(index));
  const first = await listJobs({}, { limit: 3 });
  expect(first.jobs.map(({ jobId }) => jobId)).toEqual(ids.slice(0, 3));
  for (const gone of ["job-0", "job-1"]) expect(await removeJob("email", gone)).toBe("removed");
  await add("late", "a@example.com", {}, optionsOf(9));
  const second = await listJobs({}, { limit: 3, cursor: first.cursor ?? "" });
  expect(second.jobs.map(({ jobId }) => jobId)).toEqual(ids.slice(3, 6));
  // All that was shown has run meanwhile.
  for (const gone of ids.slice(2, 6)) expect(await removeJob("email", gone)).toBe("removed");
  expect(await idsOf({}, { cursor: second.cursor ?? "" })).toEqual([...ids.slice(6), "late"]);
});

test("more jobs wait than Redis is asked for at once, and each is shown once, in the order in which they will run", async () => {
  const ids = Array.from({ length: 150 }, (_, index) => `job-${index}`);
  const data = { type: "sendEmail", data: { to: "a@example.com", subject: "Hello", text: "Hi" } };
  await email.addBulk(ids.map((jobId) => ({ name: "sendEmail", data, opts: { jobId } })));
  expect(await idsOf({}, { limit: 200 })).toEqual(ids);
});

test("a page that ends in the second queue goes on there, and not with the first one again", async () => {
  for (const jobId of ["mail-1", "mail-2"]) await add(jobId, "a@example.com");
  for (const eventId of ["event-1", "event-2"]) {
    await enqueue(webhookContract, "dispatchEvent", { event: "order.paid", eventId, payload: {} }, { jobId: eventId });
  }
  const { jobs, cursor } = await listJobs({}, { limit: 3 });
  expect(jobs.map(({ jobId }) => jobId)).toEqual(["mail-1", "mail-2", "event-1"]);
  expect(await idsOf({}, { cursor: cursor ?? "" })).toEqual(["event-2"]);
});

test("a job that was cancelled while it waits is listed as cancelled before a worker has taken it away", async () => {
  await add("waits", "a@example.com");
  await cancelJob("email", "waits");
  expect(await idsOf({ status: "cancelled" })).toEqual(["waits"]);
  expect(await idsOf({ status: "pending" })).toEqual([]);
});

test.each([1.5, 1e300, -1])("a cursor that somebody made up is a wrong argument: place %d", async (position) => {
  const cursor = Buffer.from(JSON.stringify(["search", "wait", "email", position, "one"])).toString("base64url");
  await expect(listJobs({}, { cursor })).rejects.toThrow("expected a cursor that an earlier page returned");
});

test.each<[string, Parameters<typeof listJobs>[0], Parameters<typeof listJobs>[0]]>([
  ["a search's, without the search", { workspaceId }, {}],
  ["a listing's, for a search", {}, { workspaceId }],
  ["another status's", { status: "pending" }, { status: "failed" }],
  ["another queue's", { queue: "email" }, { queue: "webhook" }],
  ["another queue's, in a search", { workspaceId }, { workspaceId, queue: "webhook" }],
  ["another workspace's", { workspaceId }, { workspaceId: "ws-2" }],
  ["another value's", { field: ada }, { field: { name: "to", value: "bob@example.com" } }],
  ["another status's that lies in the same lists", { status: "pending" }, { status: "retrying" }],
  ["another action's", { action: "sendEmail" }, { action: "sendBulk" }],
  ["another time's", {}, { from: "2020-01-01T00:00:00Z" }],
])("a cursor goes on with its own search alone: %s is refused", async (_, own, other) => {
  await add("one", "ada@example.com", { workspaceId });
  await add("two", "ada@example.com", { workspaceId });
  const { cursor } = await listJobs(own, { limit: 1 });
  expect(await idsOf(own, { cursor: cursor ?? "" })).toHaveLength(1);
  await expect(listJobs(other, { cursor: cursor ?? "" })).rejects.toThrow(ForeignCursorError);
});
