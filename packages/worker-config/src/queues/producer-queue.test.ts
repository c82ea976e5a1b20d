import { inspect } from "node:util";
import type { JobsOptions } from "bullmq";
import { expect, test } from "vitest";
import { outageOf } from "../../test/own-redis.ts";
import { mail, mailJob, useFreshQueues } from "../../test/queues.ts";
import { marker, refusalOf } from "../../test/refusal.ts";
import { emailContract } from "../contracts/email.ts";
import { enqueue } from "../enqueue.ts";
import { askQueue } from "./queue-of.ts";
import { emailQueue } from "./queues.ts";

useFreshQueues();

const markedJob = { type: "sendEmail" as const, data: { ...mail, subject: marker } };
/** What a caller without types may do: the compiler knows that neither name nor data can be these. */
const addAnything = (name: string, data: unknown, options?: object) =>
  emailQueue.add(name as "sendEmail", data as typeof mailJob, options);

test.each<[string, object, string]>([
  ["an unknown backoff type", { backoff: { type: "exponental", delay: 1 } }, "options.backoff.type"],
  ["a backoff delay of NaN", { backoff: { type: "fixed", delay: Number.NaN } }, "options.backoff.delay"],
  ["a negative backoff", { backoff: -1 }, "options.backoff"],
  ["a delay of NaN", { delay: Number.NaN }, "options.delay"],
  ["a negative delay", { delay: -1 }, "options.delay"],
  ["a fraction of an attempt", { attempts: 1.5 }, "options.attempts"],
  ["a negative priority", { priority: -1 }, "options.priority"],
  ["an empty id", { jobId: "" }, "options.jobId"],
  ["an id of digits", { jobId: "123" }, "options.jobId"],
  ["an id of three parts, which BullMQ lets through", { jobId: "a:b:c" }, "options.jobId"],
  ["an id that is a number", { jobId: 7 }, "options.jobId"],
  ["the name of a record of the queue's own as id", { jobId: "wait" }, "options.jobId"],
])("plain add refuses %s, alone and in bulk", async (_, options, path) => {
  // Some of them are no JobsOptions: that is the point.
  const opts = options as JobsOptions;
  const alone = await refusalOf(emailQueue.add("sendEmail", markedJob, opts));
  const inBulk = await refusalOf(
    emailQueue.addBulk([
      { name: "sendEmail", data: mailJob },
      { name: "sendEmail", data: markedJob, opts },
    ]),
  );
  for (const refusal of [alone, inBulk]) {
    expect(refusal.code).toBe("invalid_options");
    expect(refusal.issues.map((issue) => issue.path)).toEqual([path]);
  }
  expect(await emailQueue.count()).toBe(0);
});

test("every option that BullMQ knows a backoff for is taken", async () => {
  for (const backoff of [0, 500, { type: "fixed", delay: 1 }, { type: "exponential" }, { type: "jittered" }]) {
    await emailQueue.add("sendEmail", mailJob, { backoff });
  }
  expect(await emailQueue.count()).toBe(5);
});

test.each<[string, string, unknown, string]>([
  ["a type that disagrees with the name", "sendEmail", { type: "sendFax", data: { marker } }, "invalid_data"],
  ["an unknown name", "sendFax", { type: "sendFax", data: { marker } }, "unknown_action"],
  ["data without an envelope", "sendEmail", { ...mail, subject: marker }, "invalid_data"],
  ["no data", "sendEmail", undefined, "invalid_data"],
  ["a Date", "sendEmail", { type: "sendEmail", data: { ...mail, html: new Date(0) } }, "invalid_data"],
  ["a wrong field", "sendEmail", { type: "sendEmail", data: { ...mail, to: marker } }, "invalid_data"],
  ["run options that are none", "sendEmail", { ...mailJob, run: { timeoutMs: -1 } }, "invalid_data"],
])("plain add refuses %s, alone and in bulk", async (_, name, data, code) => {
  expect((await refusalOf(addAnything(name, data))).code).toBe(code);
  const bulk = [{ name: name as "sendEmail", data: data as typeof mailJob }];
  expect((await refusalOf(emailQueue.addBulk(bulk))).code).toBe(code);
});

test("a type that disagrees with the name is named as the field that is wrong", async () => {
  const refusal = await refusalOf(addAnything("sendEmail", { type: "sendFax", data: mail }));
  expect(refusal.issues).toEqual([{ path: "type", message: `expected "sendEmail", the job's name` }]);
});

test("one bad job of a bulk leaves the whole bulk out", async () => {
  await refusalOf(
    emailQueue.addBulk([
      { name: "sendEmail", data: mailJob },
      { name: "sendEmail", data: { ...mailJob, data: { ...mail, to: marker } } },
    ]),
  );
  expect(await emailQueue.count()).toBe(0);
  const added = await emailQueue.addBulk([
    { name: "sendEmail", data: mailJob, opts: { jobId: "one" } },
    { name: "sendEmail", data: mailJob, opts: { delay: 60_000 } },
  ]);
  expect(added[0]?.id).toBe("one");
  expect(await emailQueue.getJobCounts("waiting", "delayed")).toEqual({ waiting: 1, delayed: 1 });
});

test("what happens to a payload after the call changes nothing of what was checked, alone and in bulk", async () => {
  const data: { to: string; subject: string; text: string } = { ...mail };
  const stored = { type: "sendEmail" as const, data };
  const added = Promise.all([
    enqueue(emailContract, "sendEmail", data, { jobId: "enqueued" }),
    emailQueue.add("sendEmail", stored, { jobId: "added" }),
    emailQueue.add("sendEmail", stored),
    emailQueue.addBulk([{ name: "sendEmail", data: stored, opts: { jobId: "bulk" } }]),
  ]);
  data.to = "no address";
  await added;
  const jobs = await emailQueue.getWaiting();
  expect(jobs.map((job) => job.data.data)).toEqual([mail, mail, mail, mail]);
});

test("a bulk that Redis refused in part does not say that nothing was added", async () => {
  const client = await emailQueue.getBackend().client;
  await client.set(emailQueue.toKey("prioritized"), "no set");
  const urgent = { name: "sendEmail" as const, data: markedJob, opts: { priority: 1 } };
  const { error } = await outageOf(emailQueue.addBulk([{ name: "sendEmail", data: markedJob }, urgent]));
  expect([error.mayHaveHappened, error.message]).toEqual([true, expect.stringContaining("Some of the jobs")]);
  expect(inspect(error, { depth: 10 })).not.toContain(marker);
  expect(await emailQueue.getWaitingCount()).toBe(1);
});

test("a question about a key of another kind is answered with its damage, which is no outage", async () => {
  const client = await emailQueue.getBackend().client;
  await client.set(emailQueue.toKey("failed"), "no set");
  const asked = askQueue(emailContract, (queue) => queue.getFailed());
  await expect(asked).rejects.toMatchObject({ name: "DamagedRecordError", code: "damaged_record" });
});

test("a job with an id stays a child of its parent", async () => {
  const parent = await emailQueue.add("sendEmail", mailJob, { jobId: "parent" });
  const family = { id: "parent", queue: parent.queueQualifiedName };
  await emailQueue.add("sendEmail", mailJob, { jobId: "child", parent: family });
  expect(await parent.getDependenciesCount({ unprocessed: true })).toMatchObject({ unprocessed: 1 });
});

test("a parent that does not exist is an error, with an id as without one", async () => {
  const family = { id: "nobody", queue: emailQueue.qualifiedName };
  await expect(emailQueue.add("sendEmail", mailJob, { parent: family })).rejects.toThrow(/parent/);
  await expect(emailQueue.add("sendEmail", mailJob, { jobId: "child", parent: family })).rejects.toThrow(/parent/);
  const orphan = { name: "sendEmail" as const, data: mailJob, opts: { parent: family } };
  await expect(emailQueue.addBulk([orphan])).rejects.toThrow(/parent/);
  expect(await emailQueue.count()).toBe(0);
});

test("when Redis itself refuses, the error says so as its cause, and the payload is nowhere in it", async () => {
  const client = await emailQueue.getBackend().client;
  // Redis answers any command on the wrong kind of record with an error; the scripts read this one first.
  await client.del(emailQueue.toKey("meta"));
  await client.set(emailQueue.toKey("meta"), "no hash");
  for (const options of [{}, { jobId: "with-id" }]) {
    const { error } = await outageOf(emailQueue.add("sendEmail", markedJob, options));
    expect(error.mayHaveHappened).toBe(false);
    expect(String(error.cause)).toContain("WRONGTYPE");
    expect(inspect(error, { depth: 10 })).not.toContain(marker);
  }
  expect(await emailQueue.count()).toBe(0);
});
