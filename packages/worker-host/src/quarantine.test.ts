import { readDevServicesEnv, startRedis } from "@millrace/dev-services";
import { ownKey, redisConnectionOptions } from "@millrace/redis";
import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue, parseJobFailure } from "@millrace/worker-config/contracts";
import { FlowProducer, type JobsOptions, Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";

const contract = defineQueue("default", { run: { data: z.object({ text: z.string() }) } });
const { prefix, raw, events, work, add, ended } = useQueue(contract);
const quarantine = ownKey(prefix, "quarantine", "default");

async function redis(command: string, ...parameters: (string | number)[]) {
  return (await raw.getBackend().client).runCommand(command, parameters);
}

async function quarantined(jobId: string) {
  return JSON.parse(String(await redis("hget", quarantine, jobId)));
}

/** Adds a job while nobody works, and lets the caller damage its record. */
async function damaged(damage: (jobKey: string) => Promise<unknown>): Promise<string> {
  const jobId = await add("run", { text: "damaged" });
  await damage(raw.toKey(jobId));
  return jobId;
}

test.each<[what: string, reason: string, damage: (jobKey: string) => Promise<unknown>]>([
  ["whose record was evicted", "evicted", (key) => redis("del", key)],
  ["whose data is broken JSON", "corrupt", (key) => redis("hset", key, "data", '{"type": "run", "bad')],
  ["whose options are broken JSON", "corrupt", (key) => redis("hset", key, "opts", "{bad")],
  ["whose options are no object", "corrupt", (key) => redis("hset", key, "opts", "null")],
  ["whose link to its parent is none", "corrupt", (key) => redis("hset", key, "parent", "5")],
  ["whose count of attempts is none", "corrupt", (key) => redis("hset", key, "atm", "abc")],
  ["whose progress is broken JSON", "corrupt", (key) => redis("hset", key, "progress", "{bad")],
  ["whose name is gone", "corrupt", (key) => redis("hdel", key, "name")],
])("a job %s is quarantined, never run, and the jobs before and after it are done", async (_, reason, damage) => {
  const ran: string[] = [];
  const before = await add("run", { text: "before" });
  const jobId = await damaged(damage);
  const after = await add("run", { text: "after" });
  await work(
    {
      run: async ({ text }) => {
        ran.push(text);
      },
    },
    { concurrency: 1 },
  );
  await ended(before);
  await ended(after);
  expect(ran).toEqual(["before", "after"]);
  expect(await quarantined(jobId)).toMatchObject({ jobId, reason, quarantinedAt: expect.any(Number) });
  expect(await raw.getJobCounts("active", "failed", "waiting")).toEqual({ active: 0, failed: 0, waiting: 0 });
  expect(await raw.getJobs(["completed", "failed", "active"])).not.toHaveLength(0);
});

test("a quarantined record keeps its bytes", async () => {
  const bytes = Buffer.from([0x7b, 0xff, 0x00, 0xc3, 0x28]);
  const client = new Redis({ ...getRedisConnection("events") });
  const jobId = await damaged((key) => client.hset(key, "data", bytes));
  await work({ run: async () => {} });
  await expect.poll(() => redis("hexists", quarantine, jobId)).toBe(1);
  const stored = await client.hgetBuffer(quarantine, jobId);
  client.disconnect();
  // Not text: a reader that takes the entry for UTF-8 sees other bytes.
  expect(JSON.parse(stored?.toString("latin1") ?? "").fields.data).toBe(bytes.toString("latin1"));
});

test("whoever waits for a job that is quarantined hears that it failed", async () => {
  const jobId = await add("run", { text: "a" });
  const job = await raw.getJob(jobId);
  await events.waitUntilReady();
  const failed = job?.waitUntilFinished(events, 10_000);
  failed?.catch(() => {});
  await redis("hset", raw.toKey(jobId), "data", "{bad");
  await work({ run: async () => {} });
  await expect(failed).rejects.toThrow(/^\[quarantined\] .* was corrupt\.$/);
});

test("the lines that a job left go with its record: a later one under its id does not begin with them", async () => {
  const jobId = await add("run", { text: "damaged" });
  await work({
    run: async (_, { note }) => {
      await note("of the first");
      await redis("hset", raw.toKey(jobId), "data", "{bad");
      throw new Error("once more");
    },
  });
  await expect.poll(() => redis("hexists", quarantine, jobId)).toBe(1);
  expect(await redis("exists", `${raw.toKey(jobId)}:logs`)).toBe(0);
});

test("a job that is damaged is quarantined also where Redis does not say its time", async () => {
  const own = await startRedis({ choice: readDevServicesEnv().DEV_REDIS });
  // No user of the embedded Redis can be forbidden anything.
  if (own.kind !== "embedded") {
    const queue = new Queue("default", { connection: redisConnectionOptions("worker", own.url), prefix });
    const client = await queue.getBackend().client;
    await client.runCommand("acl", ["setuser", "no-time", "on", ">secret", "~*", "&*", "+@all", "-time"]);
    const { id = "" } = await queue.add("run", { type: "run", data: { text: "damaged" } });
    await client.runCommand("hset", [queue.toKey(id), "data", "{bad"]);
    const url = own.url.replace("redis://", "redis://no-time:secret@");
    const worker = await work({ run: async () => {} }, { connection: redisConnectionOptions("worker", url) });
    await expect.poll(() => client.runCommand("hexists", [quarantine, id])).toBe(1);
    await worker.stop(0);
    await queue.close();
  }
  await own.stop();
});

test("a dedupe key of a job that is quarantined is free again", async () => {
  const dedupe = { key: "same", mode: "drop" };
  const jobId = await add("run", { text: "damaged" }, { dedupe });
  expect(await add("run", { text: "duplicate" }, { dedupe })).toBe(jobId);
  await redis("hset", raw.toKey(jobId), "data", "{bad");
  await work({ run: async () => {} });
  await expect.poll(() => redis("hexists", quarantine, jobId)).toBe(1);
  const next = await add("run", { text: "sound" }, { dedupe });
  expect(next).not.toBe(jobId);
  expect(await (await ended(next)).getState()).toBe("completed");
});

test.each<[what: string, opts: JobsOptions, damaged: [field: string, value: string], ends: string]>([
  ["fails", {}, ["data", "{bad"], "failed"],
  ["fails, where the child still knows its key alone", {}, ["parent", "{bad"], "failed"],
  ["goes on, where its flow says so", { ignoreDependencyOnFailure: true }, ["data", "{bad"], "completed"],
])("a parent whose child is quarantined does not wait for ever: it %s", async (_, opts, damaged, ends) => {
  const flows = new FlowProducer({ connection: getRedisConnection("worker"), prefix });
  const child = { name: "run", queueName: "default", data: { type: "run", data: { text: "child" } }, opts };
  const flow = await flows.add({
    name: "run",
    queueName: "default",
    data: { type: "run", data: { text: "parent" } },
    children: [child],
  });
  await redis("hset", raw.toKey(flow.children?.[0]?.job.id ?? ""), ...damaged);
  await work({ run: async () => {} });
  const parent = await ended(flow.job.id ?? "");
  await flows.close();
  expect(await parent.getState()).toBe(ends);
  if (ends === "failed") expect(parseJobFailure(parent.failedReason).code).toBe("child_failed");
});
