import { closeQueues, emailQueue, webhookQueue } from "@millrace/worker-config";
import { cancelledReason } from "@millrace/worker-config/contracts";
import { type Queue, UnrecoverableError } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { mailJob, putFailed, stallOut } from "../test/failed-jobs.ts";
import { runWorker, type TestWorker, untilJob } from "../test/run-worker.ts";
import { cancelJob } from "./cancel-job.ts";
import { findJob } from "./find-job.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { replayDeadLetter, replayDeadLetters } from "./replay-dead-letters.ts";

// The same queues under wider types.
const email: Queue = emailQueue;
const webhook: Queue = webhookQueue;
const workers: TestWorker[] = [];

async function start(...args: Parameters<typeof runWorker>): Promise<TestWorker> {
  const worker = await runWorker(...args);
  workers.push(worker);
  return worker;
}

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await Promise.all([email, webhook].map((queue) => queue.obliterate({ force: true })));
});
afterAll(() => closeQueues());

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ jobId: `job-${index}`, failedAtMs: 1 + index }));
const idsIn = async (queue: Queue, state: "wait" | "failed" | "prioritized") =>
  (await queue.getJobs(state)).map(({ id }) => id).toSorted();

test("a job that stalled out runs again, with every count begun anew", async () => {
  await email.add("sendEmail", mailJob, { jobId: "left-behind" });
  await stallOut("email", "left-behind");
  expect(await replayDeadLetter("email", "left-behind")).toBe("replayed");
  expect(await email.getJob("left-behind")).toMatchObject({ attemptsMade: 0, attemptsStarted: 0, stalledCounter: 0 });
  expect(await findJob("email", "left-behind")).toMatchObject({ status: "pending", error: null, finishedAt: null });
  await start("email", async () => ({ messageId: "m" }), { maxStalledCount: 0 });
  await expect.poll(() => email.getJobState("left-behind")).toBe("completed");
  expect(await findJob("email", "left-behind")).toMatchObject({ status: "success", attempts: 1 });
});

test("a job out of attempts gets all of them again, at every replay, and its replays are counted", async () => {
  const worker = await start("email", async () => {
    throw new Error("[smtp_451] busy");
  });
  const failures = (times: number) => untilJob(worker, "failed", "tried-out", times);
  const first = failures(2);
  await email.add("sendEmail", mailJob, { jobId: "tried-out", attempts: 2, backoff: 0 });
  await first;
  for (const replays of [1, 2]) {
    const again = failures(2);
    const startedAt = Date.now();
    expect(await replayDeadLetter("email", "tried-out")).toBe("replayed");
    await again;
    const { letters } = await listDeadLetters();
    expect(letters).toMatchObject([{ jobId: "tried-out", code: "smtp_451", attemptsMade: 2, starts: 2, replays }]);
    expect(Date.parse(letters[0]?.lastReplayedAt ?? "")).toBeGreaterThanOrEqual(startedAt);
  }
});

test("a job that was called off while it waited runs when it is replayed, and is called off no more", async () => {
  await email.add("sendEmail", mailJob, { jobId: "called-off", delay: 60_000 });
  expect((await cancelJob("email", "called-off")).outcome).toBe("cancelled");
  let runs = 0;
  await start("email", async () => {
    runs += 1;
  });
  // It ends by a worker's hand, and its handler does not hear of it.
  await expect.poll(() => email.getJobState("called-off")).toBe("failed");
  expect(await findJob("email", "called-off")).toMatchObject({ status: "cancelled" });
  expect(runs).toBe(0);
  expect(await replayDeadLetter("email", "called-off")).toBe("replayed");
  await expect.poll(() => email.getJobState("called-off")).toBe("completed");
  expect(await findJob("email", "called-off")).toMatchObject({ status: "success", attempts: 1, error: null });
  expect(runs).toBe(1);
});

test("a dry run says what would go, by kind, and changes nothing", async () => {
  await putFailed(email, [...numbered(3), { jobId: "slow", code: "timeout" }, { jobId: "bad", fields: { data: "{" } }]);
  await putFailed(webhook, [{ jobId: "called-off", fields: { failedReason: cancelledReason } }]);
  const client = await email.getBackend().client;
  const stored = async () => [
    await client.hgetall(email.toKey("job-0")),
    await idsIn(email, "wait"),
    await email.getFailedCount(),
  ];
  const before = await stored();
  expect(await replayDeadLetters({ filter: {}, dryRun: true })).toEqual({
    isDryRun: true,
    replayed: 4,
    groups: [
      { queue: "email", action: "sendEmail", code: "smtp_550", count: 3 },
      { queue: "email", action: "sendEmail", code: "timeout", count: 1 },
    ],
    refused: { corrupt: 1 },
    refusals: [{ queue: "email", jobId: "bad", outcome: "corrupt" }],
    isStopped: false,
  });
  expect(await stored()).toEqual(before);
});

test("a letter is replayed once in a run, however soon it fails again", async () => {
  await putFailed(email, numbered(20));
  const runs = new Map<string | undefined, number>();
  const worker = await start("email", async ({ id }) => {
    runs.set(id, (runs.get(id) ?? 0) + 1);
    throw new UnrecoverableError("[smtp_550] no such mailbox");
  });
  const last = untilJob(worker, "failed", "job-19");
  const twice = [...numbered(20), ...numbered(20)].map(({ jobId }) => ({ queue: "email" as const, jobId }));
  expect((await replayDeadLetters({ jobs: twice, ratePerSecond: 10_000 })).replayed).toBe(20);
  await last;
  expect([...runs.values()]).toEqual(Array(20).fill(1));
});

test("what cannot be replayed is answered for each job, and the others go", async () => {
  await putFailed(email, [{ jobId: "good" }, { jobId: "bad", fields: { data: "{" } }]);
  await email.add("sendEmail", mailJob, { jobId: "waiting" });
  const answers: string[] = [];
  const jobs = ["bad", "never-was", "meta", "waiting", "good", "good"].map((jobId) => ({
    queue: "email" as const,
    jobId,
  }));
  const report = await replayDeadLetters(
    { jobs },
    { onProgress: ({ jobId, outcome, done }) => answers.push(`${done} ${jobId} ${outcome}`) },
  );
  expect(answers).toEqual([
    "1 bad corrupt",
    "2 never-was unknown",
    "3 meta unknown",
    "4 waiting not_failed",
    "5 good replayed",
    "6 good not_failed",
  ]);
  expect(report).toMatchObject({ replayed: 1, refused: { corrupt: 1, unknown: 2, not_failed: 2 } });
});

test("of two runs at once each letter is replayed by one", async () => {
  await putFailed(email, numbered(60));
  const run = () => replayDeadLetters({ filter: {}, ratePerSecond: 10_000 });
  const [one, other] = await Promise.all([run(), run()]);
  expect(one.replayed + other.replayed).toBe(60);
  expect(await idsIn(email, "wait")).toEqual(
    numbered(60)
      .map(({ jobId }) => jobId)
      .toSorted(),
  );
  const client = await email.getBackend().client;
  for (const { jobId } of numbered(60)) expect(await client.hget(email.toKey(jobId), "mr:replays")).toBe("1");
});

test("the pace that was asked for is kept", async () => {
  await putFailed(email, numbered(12));
  const startedAt = Date.now();
  await replayDeadLetters({ filter: {}, ratePerSecond: 40 });
  const client = await email.getBackend().client;
  const moments = await Promise.all(
    numbered(12).map(async ({ jobId }) => Number(await client.hget(email.toKey(jobId), "mr:replayedAt"))),
  );
  // The oldest first, and the nth no sooner than n times 25 ms after the first turn; a timer may be early by a millisecond.
  expect(moments).toEqual(moments.toSorted((one, other) => one - other));
  for (const [index, moment] of moments.entries()) expect(moment - startedAt).toBeGreaterThanOrEqual(index * 25 - 2);
});

test("priority and pause hold for a replayed job as for a new one", async () => {
  await putFailed(email, [{ jobId: "urgent", fields: { priority: "1" } }]);
  await email.pause();
  await putFailed(email, [{ jobId: "plain" }]);
  await replayDeadLetters({ filter: {} });
  expect([await idsIn(email, "prioritized"), await idsIn(email, "wait")]).toEqual([["urgent"], ["plain"]]);
  const worker = await start("email", async () => {});
  const done = Promise.all(["urgent", "plain"].map((jobId) => untilJob(worker, "completed", jobId)));
  await email.resume();
  await done;
});

test("a worker that sleeps is woken by a replay", async () => {
  await putFailed(email, [{ jobId: "good" }]);
  const worker = await start("email", async () => {});
  const drained = new Promise<void>((resolve) => worker.once("drained", resolve));
  await email.add("sendEmail", mailJob);
  await drained;
  const done = untilJob(worker, "completed", "good");
  await replayDeadLetter("email", "good");
  await done;
});

test("a limit and a signal end a run between two letters, and the report says so", async () => {
  await putFailed(email, numbered(9));
  expect(await replayDeadLetters({ filter: {}, limit: 3 })).toMatchObject({ replayed: 3, isStopped: true });
  expect(await idsIn(email, "wait")).toEqual(["job-0", "job-1", "job-2"]);
  const stop = new AbortController();
  const onProgress = ({ done }: { done: number }) => done === 2 && stop.abort();
  const run = { onProgress, signal: stop.signal };
  expect(await replayDeadLetters({ filter: {}, ratePerSecond: 1_000 }, run)).toMatchObject({
    replayed: 2,
    isStopped: true,
  });
  expect(await replayDeadLetters({ filter: {} })).toMatchObject({ replayed: 4, isStopped: false });
});

test.each([{}, { filter: {}, jobs: [{ queue: "email" as const, jobId: "a" }] }, { filter: {}, ratePerSecond: 0 }])(
  "%j is no request, and nothing is replayed",
  async (request) => {
    await putFailed(email, numbered(1));
    await expect(replayDeadLetters(request)).rejects.toThrow(/expected either filter or jobs|ratePerSecond/);
    expect(await idsIn(email, "failed")).toEqual(["job-0"]);
  },
);
