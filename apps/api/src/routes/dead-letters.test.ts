import { createRedis } from "@millrace/redis";
import { emailQueue, getRedisConnection } from "@millrace/worker-config";
import { createWorkspaceDirectory, watchWorkspaces } from "@millrace/workspaces";
import { Worker } from "bullmq";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const prefix = process.env.QUEUE_PREFIX ?? "";
const app = useTestApp();
let worker: Worker;

beforeAll(async () => {
  const fail = async (): Promise<unknown> => {
    throw new Error("[smtp_550] no such mailbox");
  };
  worker = new Worker("email", fail, { connection: getRedisConnection("worker"), prefix });
});
afterEach(() => emailQueue.obliterate({ force: true }));
afterAll(async () => {
  await worker.close();
});
/** Jobs that have failed for good, in this order. */
async function fail(...jobIds: string[]): Promise<void> {
  for (const jobId of jobIds) {
    const url = "/jobs/email/sendEmail?waitMs=20000";
    const payload = { data: mail, options: { jobId, attempts: 1 } };
    const { job } = (await app().inject({ method: "POST", url, headers: bearer, payload })).json();
    expect(job.status).toBe("failed");
  }
}
const list = (query = "") => app().inject({ url: `/dead-letters${query}`, headers: bearer });
const post = (url: string, payload: object = {}) => app().inject({ method: "POST", url, headers: bearer, payload });
const idsOf = (response: Awaited<ReturnType<typeof list>>) =>
  response.json().items.map(({ jobId }: { jobId: string }) => jobId);

test("dead letters are listed in pages, the newest first, without their payload", async () => {
  await fail("a", "b", "c");
  const first = await list("?limit=2");
  expect(idsOf(first)).toEqual(["c", "b"]);
  expect(first.json().items[0]).toMatchObject({ queue: "email", code: "smtp_550", message: "no such mailbox" });
  expect(first.body).not.toContain("MARKER");
  const second = await list(`?limit=2&cursor=${first.json().nextCursor}`);
  expect([idsOf(second), second.json().nextCursor]).toEqual([["a"], null]);
});

test("a list is of what the query names", async () => {
  await fail("a");
  expect(idsOf(await list("?queue=email&queue=webhook&code=smtp_550&action=sendEmail"))).toEqual(["a"]);
  expect(idsOf(await list("?queue=webhook"))).toEqual([]);
  expect(idsOf(await list("?code=timeout&code=poison"))).toEqual([]);
  for (const wrong of ["?queue=MARKER", "?cursor=MARKER", "?limit=0", "?olderThanMs=MARKER"]) {
    expectProblem(await list(wrong), 400, "invalid_request");
  }
});

test("what a filter names is replayed, and a dry run only says so", async () => {
  await fail("a", "b");
  const filter = { codes: ["smtp_550"] };
  const dry = await post("/dead-letters/replay", { filter, dryRun: true });
  expect(dry.json()).toMatchObject({ isDryRun: true, replayed: 2, isStopped: false });
  expect(await emailQueue.getFailedCount()).toBe(2);
  await worker.pause();
  const report = await post("/dead-letters/replay", { filter, limit: 1 });
  expect(report.json()).toMatchObject({
    replayed: 1,
    groups: [{ queue: "email", action: "sendEmail", code: "smtp_550", count: 1 }],
    isStopped: true,
  });
  expect((await emailQueue.getJob("a"))?.failedReason).toBeUndefined();
  worker.resume();
  expectProblem(await post("/dead-letters/replay", { filter: { codes: "MARKER" } }), 400, "invalid_request");
});

test("a replay whose caller leaves stops, and the audit log says so and how far it came", async () => {
  await fail("a", "b", "c");
  await worker.pause();
  const origin = await app().listen({ port: 0 });
  const leaving = new AbortController();
  const asked = fetch(`${origin}/dead-letters/replay`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json" },
    body: JSON.stringify({ filter: {}, ratePerSecond: 0.1 }),
    signal: leaving.signal,
  });
  await expect.poll(() => emailQueue.getFailedCount()).toBe(2);
  leaving.abort();
  await expect(asked).rejects.toThrow(/abort/);
  const readRow = async () =>
    (await app().inject({ url: "/audit?action=dead-letter.replay-many&limit=1", headers: bearer })).json().items[0];
  await expect
    .poll(readRow)
    .toMatchObject({ outcome: "stopped", status: 200, details: { isDryRun: false, replayed: 1 } });
  expect(await emailQueue.getFailedCount()).toBe(2);
  worker.resume();
});

test("one letter is replayed, and one that is none is a problem", async () => {
  await fail("a");
  await worker.pause();
  const response = await post("/dead-letters/email/a/replay");
  expect([response.statusCode, response.json()]).toEqual([202, { queue: "email", jobId: "a" }]);
  expectProblem(await post("/dead-letters/email/a/replay"), 409, "not_failed");
  expectProblem(await post("/dead-letters/email/nobody/replay"), 404, "unknown_job");
  worker.resume();
});

test("old letters are purged, and a dry run only says so", async () => {
  await fail("a", "b");
  const young = await post("/dead-letters/purge", { olderThanMs: 3_600_000 });
  expect(young.json()).toMatchObject({ removed: 0, isStopped: false });
  expect((await post("/dead-letters/purge", { olderThanMs: 0, dryRun: true })).json()).toMatchObject({ removed: 2 });
  expect((await post("/dead-letters/purge", { olderThanMs: 0, limit: 1 })).json()).toMatchObject({ removed: 1 });
  expect(idsOf(await list())).toEqual(["b"]);
});

test("an owner who is blocked is so for the workers, until the block is lifted", async () => {
  const redis = createRedis("worker", process.env.REDIS_URL ?? "", () => {});
  const watch = watchWorkspaces({ connection: getRedisConnection("worker"), prefix, onOutage: () => {} });
  await createWorkspaceDirectory({ redis, prefix }).assignWorkspace("ws-1", "owner 1");
  const standing = async () => (await watch.standingOf("ws-1")).standing;
  const answer = await post("/owners/owner%201/block");
  expect([answer.statusCode, answer.json()]).toEqual([200, { ownerId: "owner 1", isBlocked: true }]);
  await expect.poll(standing).toBe("blocked");
  expect((await post("/owners/owner%201/unblock")).json()).toEqual({ ownerId: "owner 1", isBlocked: false });
  await expect.poll(standing).toBe("active");
  expectProblem(await post("/owners/a%0Ab/block"), 400, "invalid_request");
  watch.close();
  await redis.quit();
});
