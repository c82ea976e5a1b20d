import { createApiKey, createKeyVerifier, listApiKeys, revokeApiKey } from "@millrace/access";
import * as admin from "@millrace/job-admin";
import { createJobEventFeed } from "@millrace/job-events";
import { createLogger } from "@millrace/logger";
import { createDistributedLock, createRateLimit, createRedis, createSemaphore } from "@millrace/redis";
import {
  addSchedule,
  createScheduler,
  defineSchedule,
  findSchedule,
  listSchedules,
  pauseSchedule,
  removeSchedulesOf,
  resumeSchedule,
  runScheduleNow,
} from "@millrace/schedules";
import {
  closeQueues,
  type EnqueueOptions,
  emailContract,
  enqueue,
  enqueueMany,
  getRedisConnection,
  queueOf,
} from "@millrace/worker-config";
import { createWorkspaceDirectory } from "@millrace/workspaces";
import { FlowProducer } from "bullmq";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { answerRequest, claimRequest, forgetRequest } from "../apps/api/src/request-store.ts";
import { type OneSlotRedis, startOneSlotRedis } from "./test-support/one-slot-redis.ts";
import { contract, startOneSlotWorker } from "./test-support/one-slot-worker.ts";

const prefix = "{one-slot}";
const soon = { timeout: 10_000, interval: 20 };
const queue = queueOf(contract);

let redis: OneSlotRedis;
let stopWorker: () => Promise<void>;

beforeAll(async () => {
  redis = await startOneSlotRedis(prefix);
  Object.assign(process.env, { REDIS_URL: redis.url, QUEUE_PREFIX: prefix });
  const directory = createWorkspaceDirectory({ redis: redis.client, prefix });
  await directory.assignWorkspace("blocked", "owner");
  await directory.blockOwner("owner");
  stopWorker = await startOneSlotWorker(prefix);
});

// Of some of what is refused nobody would hear: a statistic or an index that cannot be written is no failure of a job.
async function expectOneSlot(): Promise<void> {
  expect(await redis.refusedCommands()).toEqual([]);
  const keys = await redis.client.keys("*");
  expect(keys.filter((key) => !key.startsWith(`${prefix}:`))).toEqual([]);
}

afterEach(expectOneSlot);

afterAll(async () => {
  // Tells the statistics of the last second.
  await stopWorker();
  await closeQueues();
  await expectOneSlot().finally(redis.stop);
});

const add = async (text: string, options: EnqueueOptions = {}, action: "run" | "once" = "run", workspace = "w") =>
  (await enqueue(contract, action, { text, workspaceId: workspace }, options)).jobId;
const statusOf = async (jobId: string) => (await admin.findJob("default", jobId))?.status;
const until = (jobId: string, status: string) => expect.poll(() => statusOf(jobId), soon).toBe(status);

test("a command, a script's own key and a transaction in another slot are refused, or on the embedded Redis found by the key's name, so that what passes here passes on a cluster", async () => {
  const { client } = redis;
  if (redis.kind === "embedded") {
    await client.set("elsewhere", "1");
    await expect(expectOneSlot()).rejects.toThrow("elsewhere");
    await client.del("elsewhere");
    return;
  }
  await expect(client.set("elsewhere", "1")).rejects.toThrow("CLUSTERDOWN");
  await expect(client.eval(`return redis.call("GET", "elsewhere")`, 1, `${prefix}:here`)).rejects.toThrow(
    "non local key",
  );
  await expect(client.multi().get(`${prefix}:here`).get("elsewhere").exec()).rejects.toThrow("EXECABORT");
  expect((await redis.refusedCommands()).toSorted()).toEqual(["get", "set"]);
});

test("jobs are added in every way, and run", async () => {
  const repeated = { dedupe: { key: "later", mode: "latest" }, delayMs: 20 } as const;
  const ids = [
    await add("plain"),
    await add("urgent", { priority: 1 }),
    await add("delayed", { delayMs: 20 }),
    await add("dated", { runAt: new Date(Date.now() + 20).toISOString() }),
    await add("named", { jobId: "named" }),
    await add("named", { jobId: "named" }),
    await add("drop", { dedupe: { key: "drop", mode: "drop" } }),
    await add("drop", { dedupe: { key: "drop", mode: "drop", ttlMs: 1_000 } }),
    await add("again", { dedupe: { key: "again", mode: "again" } }),
    await add("again", { dedupe: { key: "again", mode: "again" } }),
    await add("twice", { retryIntervalsMs: [1] }),
    ...(await queue.addBulk([{ name: "run", data: { type: "run", data: { text: "bulk", workspaceId: "w" } } }])).map(
      ({ id = "" }) => id,
    ),
  ];
  await add("later", repeated);
  ids.push(await add("later", repeated));
  const many = await enqueueMany(contract, "run", [
    { data: { text: "one" } },
    { data: { text: "two" }, options: { jobId: "two" } },
  ]);
  for (const item of many) if ("jobId" in item) ids.push(item.jobId);
  for (const jobId of ids) await until(jobId, "success");
});

test("a job is skipped, retried, cancelled, quarantined, buried and replayed", async () => {
  const { client } = redis;
  await until(await add("effect", {}, "once"), "success");
  await until(await add("effect", {}, "once"), "skipped");
  await until(await add("plain", {}, "run", "blocked"), "skipped");

  const waiting = await add("plain", { delayMs: 60_000 });
  expect(await admin.cancelJob("default", waiting)).toMatchObject({ outcome: "cancelled" });
  const running = await add("until told");
  await until(running, "running");
  expect(await admin.cancelJob("default", running)).toMatchObject({ outcome: "cancelling" });
  await until(running, "cancelled");

  const damaged = await add("plain", { delayMs: 60_000 });
  await client.hset(queue.toKey(damaged), "data", "{bad");
  expect(await admin.promoteJob("default", damaged)).toBe("promoted");
  await expect.poll(async () => (await admin.listQuarantine("default")).jobs, soon).toHaveLength(1);
  expect(await admin.discardQuarantined("default", damaged)).toBe(true);

  const dead = await add("dead");
  await until(dead, "failed");
  expect((await admin.listDeadLetters({ text: dead })).letters).toHaveLength(1);
  expect(await admin.replayDeadLetter("default", dead)).toBe("replayed");
  await until(dead, "failed");
  expect(await admin.replayDeadLetters({ filter: {} })).toMatchObject({ replayed: 1 });
  await until(dead, "failed");
  expect(await admin.purgeDeadLetters({ olderThanMs: 0, filter: { text: dead } })).toMatchObject({ removed: 1 });
});

test("a flow over two queues runs, and is called off as a whole", async () => {
  const flows = new FlowProducer({ connection: getRedisConnection("worker"), prefix });
  const node = (queueName: string, jobId: string) => ({
    name: "run",
    queueName,
    data: { type: "run", data: { text: "plain" } },
    opts: { jobId },
  });
  await flows.add({ ...node("default", "parent"), children: [node("default", "child")] });
  await until("parent", "success");
  await flows.add({ ...node("default", "mother"), children: [node("email", "son"), node("chat", "daughter")] });
  expect(await admin.cancelJob("default", "mother")).toMatchObject({
    outcome: "cancelled",
    children: { cancelled: 2 },
  });
  await until("mother", "cancelled");
  await flows.close();
});

test("operators look at the queues, and change them", async () => {
  expect(await admin.pauseQueue("default")).toBe("paused");
  const ids = [await add("plain"), await add("plain", { priority: 2 }), await add("plain", { delayMs: 60_000 })];
  expect((await admin.listJobs({ workspaceId: "w", status: "pending" })).jobs).toHaveLength(3);
  expect((await admin.listJobs({ queue: "default" })).jobs).not.toHaveLength(0);
  expect((await admin.readStats(["default"])).total.pending).toBe(3);
  expect((await admin.listWorkers()).workers).toHaveLength(1);
  expect(await admin.removeJob("default", ids[0] ?? "")).toBe("removed");
  expect(await admin.drainQueue("default", { delayed: true })).toMatchObject({ waiting: 1, delayed: 1 });
  expect(await admin.resumeQueue("default")).toBe("resumed");
  await admin.sweepIndexes();
  await admin.sweepCompleted();
  await admin.cancelStuckParents(0);
});

test("locks, places and turns", async () => {
  const { client } = redis;
  const lock = createDistributedLock({ redis: client, prefix });
  expect(await lock.runExclusive({ key: "a", timeoutInSeconds: 5, fn: async () => "done" })).toBe("done");
  const semaphore = createSemaphore({ redis: client, prefix, name: "b", places: 2, leaseMs: 5_000 });
  expect(await semaphore.withPlace(async () => "done")).toBe("done");
  const limit = createRateLimit({ redis: client, prefix, name: "c", max: 1, durationMs: 60_000 });
  expect(await limit.takeTurn("one")).toBe(0);
  expect(await limit.takeTurn("other")).toBeGreaterThan(0);
  await limit.keepTurn("one");
  await limit.correct(2);
});

test("schedules of the code and of a workspace add their jobs, are paused, run by hand and removed", async () => {
  const mail = { to: "ada@example.com", subject: "Digest", text: "It works." };
  const template = { contract: emailContract, action: "sendEmail", data: mail } as const;
  const schedules = [defineSchedule({ id: "of-code", everyMs: 60_000, ...template })];
  const scheduler = createScheduler({ schedules, log: createLogger({ level: "silent" }), workspaces: undefined });
  const cadence = { everyMs: 50 };
  const rest = { queue: "email", action: "sendEmail", data: mail, overlap: "queue", missed: "once" } as const;
  await addSchedule({ id: "tenant", workspaceId: "w", cadence, ...rest }, 10);
  await scheduler.start();
  await expect.poll(async () => (await findSchedule("tenant"))?.counts.runs, soon).toBeGreaterThan(0);
  expect(await pauseSchedule("tenant")).toBe("paused");
  expect(await resumeSchedule("tenant")).toBe("resumed");
  expect(await runScheduleNow("of-code")).toMatchObject({ outcome: "added" });
  expect((await listSchedules({})).schedules).toHaveLength(2);
  await scheduler.close();
  expect(await removeSchedulesOf("w")).toBe(1);
});

test("API keys, requests that are repeated, and followers of a job", async () => {
  const { key, apiKey } = await createApiKey({ name: "test", role: "viewer" });
  expect(await createKeyVerifier().verify(key)).toMatchObject({ id: apiKey.id });
  expect((await listApiKeys()).items).toHaveLength(1);
  await revokeApiKey(apiKey.id);

  const request = { scope: ["a", "b"], fingerprint: "f", token: "t" };
  expect(await claimRequest(request)).toEqual({ state: "claimed" });
  await answerRequest(request, "{}");
  expect(await claimRequest(request)).toEqual({ state: "done", answer: "{}" });
  await forgetRequest(request);

  const connect = () => createRedis("events", redis.url, () => {});
  const feed = createJobEventFeed({ connect, prefix, findJob: admin.findJob });
  const [one, other] = await Promise.all([add("plain", { delayMs: 50 }), add("plain", { delayMs: 50 })]);
  const heard = async (jobId: string) => {
    const kinds = new Set<string>();
    const news = feed.follow("default", jobId, { signal: AbortSignal.timeout(10_000) });
    for await (const { kind } of news) kinds.add(kind);
    return [...kinds];
  };
  expect(await Promise.all([heard(one), heard(other)])).toEqual(Array(2).fill(["status", "event", "end"]));
  feed.close();
});
