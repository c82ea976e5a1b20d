import { ForeignCursorError, writeCursor } from "@millrace/page-cursor";
import { closeQueues, emailQueue } from "@millrace/worker-config";
import { afterAll, afterEach, expect, test } from "vitest";
import { payloadMarker } from "../test/failed-jobs.ts";
import { putIntoQuarantine } from "../test/quarantined-jobs.ts";
import { cancelJob } from "./cancel-job.ts";
import { findJob } from "./find-job.ts";
import { promoteJob } from "./promote-job.ts";
import { discardQuarantined, listQuarantine } from "./quarantine.ts";
import { quarantineKey } from "./quarantine-entry.ts";
import { readQuarantined } from "./quarantined-record.ts";
import { removeJob } from "./remove-job.ts";
import { replayDeadLetter } from "./replay-dead-letters.ts";

afterEach(async () => {
  for (const { queue, jobId } of await listAll()) await discardQuarantined(queue, jobId);
});
afterAll(() => closeQueues());

async function listAll(limit = 50) {
  const jobs = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listQuarantine(undefined, cursor === undefined ? { limit } : { limit, cursor });
    jobs.push(...page.jobs);
    if (page.cursor === null) return jobs;
    cursor = page.cursor;
  }
}

const fields = { name: "sendEmail", timestamp: "1700000000000", atm: "1", data: `{bad ${payloadMarker}` };

test("a list shows why, since when and how much, and the record comes only to who asks for it", async () => {
  await putIntoQuarantine("email", { jobId: "bad", quarantinedAt: 1_700_000_001_000, fields });
  const { jobs, cursor } = await listQuarantine("email");
  expect(cursor).toBeNull();
  expect(jobs).toEqual([
    {
      queue: "email",
      jobId: "bad",
      reason: "corrupt",
      quarantinedAt: "2023-11-14T22:13:21.000Z",
      bytes: expect.any(Number),
    },
  ]);
  expect(jobs[0]?.bytes).toBeGreaterThan(JSON.stringify(fields).length);
  expect(JSON.stringify(jobs)).not.toContain(payloadMarker);
  expect((await readQuarantined("email", "bad"))?.fields).toEqual(fields);
  expect(await readQuarantined("webhook", "bad")).toBeUndefined();
});

test("bytes that are no text come as base64, text as it is, in every language", async () => {
  const client = await emailQueue.getBackend().client;
  const lua = `
    local fields = { name = "sendEmail", data = "{\\255\\0\\195(", failedReason = ARGV[2] }
    local entry = { jobId = ARGV[1], reason = "corrupt", quarantinedAt = 1700000001000, fields = fields }
    return redis.call("HSET", KEYS[1], ARGV[1], cjson.encode(entry))`;
  await client.runCommand("eval", [lua, 1, quarantineKey("email"), "bytes", "Жалоба 💥"]);
  expect(await readQuarantined("email", "bytes")).toEqual({
    queue: "email",
    jobId: "bytes",
    reason: "corrupt",
    quarantinedAt: "2023-11-14T22:13:21.000Z",
    kind: null,
    fields: { name: "sendEmail", failedReason: "Жалоба 💥" },
    binaryFields: { data: Buffer.from([0x7b, 0xff, 0x00, 0xc3, 0x28]).toString("base64") },
    cutFields: {},
  });
});

test("pages over all queues show every job, and a damaged entry among them", async () => {
  const expected: string[] = [];
  for (const queue of ["email", "webhook", "quota"] as const) {
    for (let index = 0; index < 45; index++) {
      expected.push(`${queue}-${index}`);
      await putIntoQuarantine(queue, { jobId: `${queue}-${index}`, reason: "evicted" });
    }
  }
  await putIntoQuarantine("quota", "unreadable");
  const jobs = await listAll(10);
  expect([...new Set(jobs.map(({ jobId }) => jobId))].toSorted()).toEqual([...expected, "unreadable"].toSorted());
  expect(jobs.find(({ jobId }) => jobId === "unreadable")).toMatchObject({ reason: "corrupt", quarantinedAt: null });
});

test("what is discarded is gone, once", async () => {
  await putIntoQuarantine("email", { jobId: "bad", fields });
  expect(await discardQuarantined("email", "bad")).toBe(true);
  expect(await discardQuarantined("email", "bad")).toBe(false);
  expect(await listAll()).toEqual([]);
});

test("a job that is nowhere but in quarantine is found as failed, with a code of its own", async () => {
  await putIntoQuarantine("email", { jobId: "bad", quarantinedAt: 1_700_000_001_000, fields });
  await putIntoQuarantine("email", "unreadable");
  expect(await findJob("email", "bad")).toEqual({
    jobId: "bad",
    queue: "email",
    action: "sendEmail",
    status: "failed",
    attempts: 1,
    progress: 0,
    createdAt: "2023-11-14T22:13:20.000Z",
    dueAt: null,
    startedAt: null,
    finishedAt: "2023-11-14T22:13:21.000Z",
    result: null,
    error: {
      code: "quarantined",
      message: "The job lies in quarantine, since its record was corrupt: an operator reads it there, and discards it.",
    },
  });
  expect(await findJob("email", "unreadable")).toMatchObject({ status: "failed", error: { code: "quarantined" } });
  // Enqueued again, the id means the new job.
  await emailQueue.add(
    "sendEmail",
    { type: "sendEmail", data: { to: "a@example.com", subject: "x", text: "x" } },
    { jobId: "bad" },
  );
  expect(await findJob("email", "bad")).toMatchObject({ status: "pending", error: null });
  await emailQueue.obliterate({ force: true });
});

test("whatever is done to a job in quarantine says that it lies there, and leaves it there", async () => {
  await putIntoQuarantine("email", { jobId: "bad", fields });
  const actOn = async (jobId: string) => [
    (await cancelJob("email", jobId)).outcome,
    await replayDeadLetter("email", jobId),
    await promoteJob("email", jobId),
    await removeJob("email", jobId),
  ];
  expect(new Set(await actOn("bad"))).toEqual(new Set(["quarantined"]));
  expect(new Set(await actOn("never-was"))).toEqual(new Set(["unknown"]));
  expect((await listAll()).map(({ jobId }) => jobId)).toEqual(["bad"]);
});

test("a cursor of another queue is refused, and so is one queue's for all, or that of all for one", async () => {
  const cursor = writeCursor(["email", "email", "0"]);
  expect(await listQuarantine("email", { cursor })).toEqual({ jobs: [], cursor: null });
  const ofAll = writeCursor([null, "webhook", "0"]);
  expect(await listQuarantine(undefined, { cursor: ofAll })).toEqual({ jobs: [], cursor: null });
  await expect(listQuarantine("webhook", { cursor })).rejects.toThrow(ForeignCursorError);
  await expect(listQuarantine(undefined, { cursor })).rejects.toThrow(ForeignCursorError);
  await expect(listQuarantine("webhook", { cursor: ofAll })).rejects.toThrow(ForeignCursorError);
});

// 2^64 is one beyond what Redis takes.
const notParts = [
  [null, "emial", "0"],
  [null, "email", "18446744073709551616"],
  [null, "email", "x"],
  ["email", "0"],
  ["email"],
];

test.each(["", "email:0", ...notParts.map(writeCursor)])("%j is no cursor", async (cursor) => {
  await expect(listQuarantine(undefined, { cursor })).rejects.toThrow(
    /expected a cursor that an earlier page returned/,
  );
});
