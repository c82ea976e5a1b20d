import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  addDigestItem,
  beginWebhookDelivery,
  connectDatabase,
  createWebhookEndpoint,
  findWebhookEndpoint,
  listWebhookDeliveries,
  recordWebhookAttempt,
} from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { createFileStore } from "@millrace/file-store";
import { createDistributedLock, createRedis, readRedisEnv } from "@millrace/redis";
import { addSchedule, listSchedules } from "@millrace/schedules";
import { closeQueues, emailQueue, enqueue, readQueueEnv, webhookContract, webhookQueue } from "@millrace/worker-config";
import { formatJobFailure } from "@millrace/worker-config/contracts";
import { jobContext } from "@millrace/worker-host/testing";
import { createWorkspaceDirectory } from "@millrace/workspaces";
import { sql } from "kysely";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { readScheduleEnv, type ScheduleEnv } from "./env.ts";
import { scheduleHandlers } from "./handlers.ts";
import { createPurgeWebhookDeliveries } from "./purge-webhook-deliveries.ts";

const redis = createRedis("worker", readRedisEnv().REDIS_URL, () => {});
const prefix = readQueueEnv().QUEUE_PREFIX;
const distributedLock = createDistributedLock({ redis, prefix });
const folder = join(tmpdir(), `millrace-schedule-files-${randomUUID()}`);
const files = createFileStore({ location: { kind: "folder", folder } });
const directory = createWorkspaceDirectory({ redis, prefix });
const { database } = useDatabase();

afterEach(() => Promise.all([emailQueue, webhookQueue].map((queue) => queue.obliterate({ force: true }))));
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  redis.disconnect();
  await closeQueues();
});

const handlers = (env: Partial<ScheduleEnv> = {}) =>
  scheduleHandlers(distributedLock, directory, files, database(), { ...readScheduleEnv(), ...env });

const context = () => jobContext({ queue: "schedule", action: "any" });

/** A job that has ended so many days ago, as BullMQ leaves it. */
async function putEnded(jobId: string, set: "completed" | "failed", daysAgo: number, opts = {}): Promise<void> {
  const endedAt = Date.now() - daysAgo * 86_400_000;
  const data = { to: "ada@example.com", subject: "x", text: "x" };
  await emailQueue.add("sendEmail", { type: "sendEmail", data }, { jobId, ...opts });
  const ended = { finishedOn: endedAt, ...(set === "failed" ? { failedReason: "smtp_550: refused" } : {}) };
  await redis
    .multi()
    .lrem(emailQueue.toKey("wait"), 0, jobId)
    .hset(emailQueue.toKey(jobId), ended)
    .zadd(emailQueue.toKey(set), endedAt, jobId)
    .exec();
}

const isThere = async (jobId: string) => (await redis.exists(emailQueue.toKey(jobId))) === 1;

test("dead letters older than the environment says are purged, and a dry run only counts them", async () => {
  await putEnded("old", "failed", 31);
  await putEnded("young", "failed", 29);
  const { purgeDeadLetters } = handlers();
  expect(await purgeDeadLetters({ dryRun: true }, context())).toEqual({
    removed: 1,
    quarantined: 0,
    kept: 0,
    isDryRun: true,
  });
  expect(await purgeDeadLetters({}, context())).toMatchObject({ removed: 1, quarantined: 0, isDryRun: false });
  expect([await isThere("old"), await isThere("young")]).toEqual([false, true]);
  expect(await purgeDeadLetters({ olderThanDays: 28 }, context())).toMatchObject({ removed: 1 });
});

test("of an idle queue, completed jobs go when their own time is over, and those that are to stay longer stay", async () => {
  await putEnded("over", "completed", 2);
  await putEnded("kept-for-a-week", "completed", 2, { removeOnComplete: { age: 7 * 86_400 } });
  await putEnded("kept-for-ever", "completed", 50, { removeOnComplete: false });
  await putEnded("today", "completed", 0.5);
  const { sweepQueues } = handlers();
  expect(await sweepQueues({}, context())).toEqual({
    removedCompleted: 1,
    removedEntries: expect.any(Number),
    cancelledParents: 0,
  });
  const left = await Promise.all(["over", "kept-for-a-week", "kept-for-ever", "today"].map(isThere));
  expect(left).toEqual([false, true, true, true]);
});

test("files whose time is over are gone, the others stay", async () => {
  const put = (ttlMs: number) => files.put(Buffer.from("x"), { name: "x", contentType: "text/plain", ttlMs });
  const over = await put(1);
  const kept = await put(60_000);
  await expect.poll(() => files.stat(over.fileId).catch(({ code }) => code)).toBe("file_missing");
  expect(await handlers().sweepFileStore({}, context())).toEqual({ removed: 1, leftovers: 0 });
  expect(await files.stat(kept.fileId)).toMatchObject({ fileId: kept.fileId });
});

test("everybody for whom something was collected gets one digest a day, however often it runs", async () => {
  const workspaceId = randomUUID();
  await addDigestItem(database(), { recipient: "ada@example.com", text: "One." });
  await addDigestItem(database(), { recipient: "ada@example.com", text: "Two." });
  await addDigestItem(database(), { recipient: "bob@example.com", workspaceId, text: "Three." });
  const going = randomUUID();
  await addDigestItem(database(), { recipient: "bob@example.com", workspaceId: going, text: "Four." });
  await directory.scheduleWorkspaceDeletion(going);
  const { sendDailyDigests } = handlers();
  const today = { ...context(), createdAt: new Date(), enqueue };
  expect(await sendDailyDigests({}, today)).toEqual({ enqueued: 2, duplicates: 0 });
  expect(await sendDailyDigests({}, today)).toEqual({ enqueued: 0, duplicates: 2 });
  const jobs = await emailQueue.getJobs(["waiting"]);
  const until = today.createdAt.toISOString();
  expect(
    jobs.map(({ data }) => data.data).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
  ).toEqual([
    { recipient: "ada@example.com", until },
    { recipient: "bob@example.com", workspaceId, until },
  ]);
  expect(jobs.map(({ id }) => id).join()).not.toContain("example.com");
  const tomorrow = { ...today, createdAt: new Date(today.createdAt.getTime() + 86_400_000) };
  expect(await sendDailyDigests({}, tomorrow)).toEqual({ enqueued: 2, duplicates: 0 });
  await directory.cancelWorkspaceDeletion(going);
});

test("while the database is away no digest is lost: the job waits without using up an attempt", async () => {
  const away = connectDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing" });
  const { sendDailyDigests } = scheduleHandlers(distributedLock, directory, files, away, readScheduleEnv());
  await expect(sendDailyDigests({}, context())).rejects.toMatchObject({
    failureKind: "contention",
    code: "database_unavailable",
  });
  await away.close();
});

test("old webhook deliveries are gone, those whose jobs have ended are closed, and those whose jobs live stay as they are", async () => {
  const endpoint = { url: "https://example.com/", events: ["*"], secret: "any" };
  const { id: endpointId } = await createWebhookEndpoint(database(), endpoint);
  const event = { endpointId, event: "a", eventId: "1", occurredAt: new Date(), payload: "{}" };
  const ids = ["old-1", "old-2", "old-3", "old-waiting", "young", "young-dead", "young-tried"];
  for (const id of ids) await beginWebhookDelivery(database(), { id, ...event, jobId: `job-${id}` });
  const data = { endpointId, event: "a", eventId: "1", payload: {} };
  for (const id of ["old-waiting", "young-dead", "young-tried"])
    await enqueue(webhookContract, "deliverWebhook", data, { jobId: `job-${id}` });
  await redis
    .multi()
    .lrem(webhookQueue.toKey("wait"), 0, "job-young-dead")
    .hset(webhookQueue.toKey("job-young-dead"), {
      finishedOn: Date.now(),
      failedReason: formatJobFailure({ code: "timeout", message: "" }),
    })
    .zadd(webhookQueue.toKey("failed"), Date.now(), "job-young-dead")
    .exec();
  const answer = { status: "pending", httpStatus: 500, errorCode: "endpoint_failed" } as const;
  await recordWebhookAttempt(database(), "young-tried", answer);
  await sql`update webhook_deliveries set created_at = now() - interval '31 days' where id like 'old-%'`.execute(
    database(),
  );
  const purge = createPurgeWebhookDeliveries(distributedLock, database(), 30, 2);
  expect(await purge({}, context())).toEqual({ removed: 3 });
  expect(await handlers().purgeWebhookDeliveries({}, context())).toEqual({ removed: 0 });
  expect(await listWebhookDeliveries(database(), { endpointId, limit: 10 })).toMatchObject([
    { id: "young-tried", status: "pending", errorCode: "endpoint_failed" },
    { id: "young-dead", status: "failed", errorCode: "timeout", finishedAt: expect.any(Date) },
    { id: "young", status: "failed", errorCode: "job_gone" },
    { id: "old-waiting", status: "pending" },
  ]);
});

test("a run that finds another at work does nothing, and its job is skipped", async () => {
  await putEnded("old", "failed", 31);
  const { purgeDeadLetters } = handlers();
  await distributedLock.runExclusive({
    key: "schedule:purge-dead-letters",
    timeoutInSeconds: 5,
    fn: async () => {
      await expect(purgeDeadLetters({}, context())).rejects.toMatchObject({ isSkip: true, code: "lock_contended" });
    },
  });
  expect(await isThere("old")).toBe(true);
});

test("what a workspace would send goes when its deletion is certain, the workspace when no job of it can be left", async () => {
  const [doomed, safe] = [randomUUID(), "safe"];
  const schedule = {
    workspaceId: doomed,
    cadence: { everyMs: 3_600_000 },
    queue: "email",
    action: "sendEmail",
  } as const;
  const add = (id: string, workspaceId: string) =>
    addSchedule({ ...schedule, id, workspaceId, data: {}, overlap: "queue", missed: "once" }, 10);
  await add("one", doomed);
  await add("two", doomed);
  await add("three", safe);
  const item = { recipient: "cleo@example.com", text: "x" };
  await addDigestItem(database(), { ...item, workspaceId: doomed });
  const endpoint = { url: "https://example.com/", events: ["*"], secret: "any" };
  const { id: gone } = await createWebhookEndpoint(database(), { ...endpoint, workspaceId: doomed });
  const { id: kept } = await createWebhookEndpoint(database(), { ...endpoint, workspaceId: safe });
  await directory.scheduleWorkspaceDeletion(doomed);
  const run = (env: Partial<ScheduleEnv>) => handlers(env).cleanUpWorkspaces({}, context());
  const ids = async () => (await listSchedules()).schedules.map((stored) => stored.schedule.id);
  const nothing = {
    removedSchedules: 0,
    removedDigestItems: 0,
    removedWebhookEndpoints: 0,
    removedAgentRuns: 0,
    forgotten: 0,
  };
  expect(await run({})).toEqual({ scheduledForDeletion: 1, ...nothing });
  expect(await ids()).toEqual(["one", "three", "two"]);
  const certain = { WORKSPACE_CLEAN_UP_AFTER_DAYS: 0 };
  const removed = {
    removedSchedules: 2,
    removedDigestItems: 1,
    removedWebhookEndpoints: 1,
    removedAgentRuns: 0,
    forgotten: 0,
  };
  expect(await run(certain)).toEqual({ scheduledForDeletion: 1, ...removed });
  expect(await ids()).toEqual(["three"]);
  expect(await findWebhookEndpoint(database(), gone)).toBeUndefined();
  expect(await findWebhookEndpoint(database(), kept)).toMatchObject({ workspaceId: safe });
  expect(await run({ ...certain, WORKSPACE_FORGET_AFTER_DAYS: 0 })).toMatchObject({ forgotten: 1 });
  expect(await run(certain)).toMatchObject({ scheduledForDeletion: 0 });
});

test.each(["WORKSPACE_FORGET_AFTER_DAYS=365", "WAITING_PARENT_MAX_AGE_DAYS=0"])(
  "%s is refused at the start: jobs of a workspace would run again, or a flow be called off at once",
  (variable) => {
    const [name = "", value] = variable.split("=");
    vi.stubEnv(name, value);
    expect(readScheduleEnv).toThrow(name);
    vi.unstubAllEnvs();
  },
);
