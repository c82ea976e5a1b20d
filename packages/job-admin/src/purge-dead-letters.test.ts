import { closeQueues, emailQueue, readQueueEnv, webhookQueue } from "@millrace/worker-config";
import { cancelledReason } from "@millrace/worker-config/contracts";
import { type Queue, UnrecoverableError } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { mailJob, putFailed } from "../test/failed-jobs.ts";
import { addFlow } from "../test/flows.ts";
import { putIntoQuarantine } from "../test/quarantined-jobs.ts";
import { runWorker, untilJob } from "../test/run-worker.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { purgeDeadLetters } from "./purge-dead-letters.ts";
import { discardQuarantined, listQuarantine } from "./quarantine.ts";
import { removeLetter } from "./remove-letter.ts";
import { replayDeadLetter, replayDeadLetters } from "./replay-dead-letters.ts";

// The same queues under wider types.
const email: Queue = emailQueue;
const webhook: Queue = webhookQueue;
const day = 24 * 60 * 60_000;

afterEach(() => Promise.all([email, webhook].map((queue) => queue.obliterate({ force: true }))));
afterAll(() => closeQueues());

async function keysNaming(jobId: string): Promise<string[]> {
  const client = await email.getBackend().client;
  const keys = await client.runCommand("keys", [`${readQueueEnv().QUEUE_PREFIX}:*`]);
  return keys.filter((key: string) => key.includes(jobId));
}

test("a purge removes what is old enough, counts it by kind, and leaves the rest", async () => {
  const now = Date.now();
  const old = (jobId: string, code?: string) => ({ jobId, failedAtMs: now - 31 * day, ...(code && { code }) });
  await putFailed(email, [old("a"), old("b"), old("c", "timeout"), { jobId: "young", failedAtMs: now - 29 * day }]);
  await putFailed(webhook, [old("d"), { ...old("called-off"), fields: { failedReason: cancelledReason } }]);
  const dryRun = await purgeDeadLetters({ olderThanMs: 30 * day, dryRun: true });
  expect(dryRun).toMatchObject({ isDryRun: true, removed: 5 });
  expect((await listDeadLetters({ codes: ["smtp_550", "timeout", "cancelled"] })).letters).toHaveLength(6);
  expect(await purgeDeadLetters({ olderThanMs: 30 * day })).toEqual({
    isDryRun: false,
    removed: 5,
    quarantined: 0,
    groups: [
      { queue: "email", action: "sendEmail", code: "smtp_550", count: 2 },
      { queue: "email", action: "sendEmail", code: "timeout", count: 1 },
      { queue: "webhook", action: "sendEmail", code: "cancelled", count: 1 },
      { queue: "webhook", action: "sendEmail", code: "smtp_550", count: 1 },
    ],
    kept: { left: 0, awaited: 0 },
    isStopped: false,
  });
  expect((await listDeadLetters()).letters.map(({ jobId }) => jobId)).toEqual(["young"]);
});

test("a filter and a limit narrow a purge down, to the oldest first", async () => {
  const jobs = Array.from({ length: 5 }, (_, index) => ({ jobId: `job-${index}`, failedAtMs: 10 + index }));
  await putFailed(email, [...jobs, { jobId: "slow", failedAtMs: 1, code: "timeout" }]);
  const request = { olderThanMs: 0, filter: { codes: ["smtp_550"] }, limit: 3 };
  expect(await purgeDeadLetters(request)).toMatchObject({ removed: 3, isStopped: true });
  expect((await listDeadLetters()).letters.map(({ jobId }) => jobId)).toEqual(["job-4", "job-3", "slow"]);
  const stopped = await purgeDeadLetters({ olderThanMs: 0 }, AbortSignal.abort());
  expect(stopped).toMatchObject({ removed: 0, isStopped: true });
});

test("a purge or a replay that is told to stop does so while nothing fits as well", async () => {
  await putFailed(email, [{ jobId: "another" }]);
  const [filter, signal] = [{ codes: ["never_seen"] }, AbortSignal.abort()];
  expect(await purgeDeadLetters({ olderThanMs: 0, filter }, signal)).toMatchObject({ removed: 0, isStopped: true });
  expect(await replayDeadLetters({ filter }, { signal })).toMatchObject({ replayed: 0, isStopped: true });
});

test("nothing of a purged job stays in Redis, and its id and its dedupe key are free", async () => {
  const worker = await runWorker("email", async (job) => {
    await job.log("a line");
    throw new UnrecoverableError("[smtp_550] no such mailbox");
  });
  const failed = Promise.all(["purge-me", "purge-me-too"].map((jobId) => untilJob(worker, "failed", jobId)));
  await addFlow({ id: "purge-me", children: [{ id: "a-child", opts: { ignoreDependencyOnFailure: true } }] });
  const deduplication = { id: "purge-me-key", ttl: 60_000 };
  await email.add("sendEmail", mailJob, { jobId: "purge-me-too", deduplication });
  await failed;
  await worker.close();
  expect((await keysNaming("purge-me")).length).toBeGreaterThan(5);
  await purgeDeadLetters({ olderThanMs: 0, filter: { text: "purge-me" } });
  expect(await keysNaming("purge-me")).toEqual([]);
  expect(await email.getJobState("a-child")).toBe("failed");
});

test("a job that was replayed, or has failed anew, since it was looked at is not removed", async () => {
  await putFailed(email, [
    { jobId: "replayed", failedAtMs: 10 },
    { jobId: "again", failedAtMs: 20 },
  ]);
  await replayDeadLetter("email", "replayed");
  await putFailed(email, [{ jobId: "again", failedAtMs: 30 }]);
  expect(await removeLetter({ queue: "email", jobId: "replayed", failedAtMs: 10 }, false)).toBe("left");
  expect(await removeLetter({ queue: "email", jobId: "again", failedAtMs: 20 }, false)).toBe("left");
  expect(await email.getJobState("replayed")).toBe("waiting");
  expect(await email.getJobState("again")).toBe("failed");
});

test("a dead letter whose handler chose the quarantine's code does not count as what came from there", async () => {
  await putFailed(email, [{ jobId: "letter", failedAtMs: 1, code: "quarantined" }]);
  await putIntoQuarantine("email", { jobId: "taken-out", quarantinedAt: 1 });
  expect(await purgeDeadLetters({ olderThanMs: 0 })).toMatchObject({ removed: 2, quarantined: 1 });
});

test("a purge by age covers the quarantine, says what came from there, and leaves an entry whose age nobody can read", async () => {
  const now = Date.now();
  await putIntoQuarantine("email", { jobId: "old", quarantinedAt: now - 31 * day, fields: { name: "sendEmail" } });
  await putIntoQuarantine("email", { jobId: "young", quarantinedAt: now });
  await putIntoQuarantine("email", "unreadable");
  await putFailed(email, [{ jobId: "damaged", failedAtMs: now - 31 * day, fields: { data: "{" } }]);
  const kind = { queue: "email", action: "sendEmail", count: 1 };
  const groups = expect.arrayContaining([
    { ...kind, code: "quarantined" },
    { ...kind, code: "corrupt" },
  ]);
  const request = { olderThanMs: 30 * day };
  expect(await purgeDeadLetters({ ...request, dryRun: true })).toMatchObject({ removed: 2, quarantined: 1, groups });
  const letters = { ...request, filter: { codes: ["timeout", "corrupt"] } };
  expect(await purgeDeadLetters(letters)).toMatchObject({ removed: 1, quarantined: 0 });
  const rest = { ...request, filter: { codes: ["quarantined"] } };
  expect(await purgeDeadLetters(rest)).toMatchObject({ removed: 1, quarantined: 1 });
  const { jobs } = await listQuarantine("email");
  expect(jobs.map(({ jobId }) => jobId).toSorted()).toEqual(["unreadable", "young"]);
  for (const { jobId } of jobs) await discardQuarantined("email", jobId);
});
