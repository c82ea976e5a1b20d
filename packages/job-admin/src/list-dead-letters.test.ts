import { closeQueues, emailQueue, webhookQueue } from "@millrace/worker-config";
import { cancelledReason } from "@millrace/worker-config/contracts";
import { type Queue, UnrecoverableError } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { mailJob, payloadMarker, putFailed, stallOut } from "../test/failed-jobs.ts";
import { runWorker, untilJob } from "../test/run-worker.ts";
import type { DeadLetterFilter } from "./dead-letter-filter.ts";
import { listDeadLetters } from "./list-dead-letters.ts";

// The same queues under wider types.
const queues: readonly Queue[] = [emailQueue, webhookQueue];
const [email, webhook] = [queues[0] as Queue, queues[1] as Queue];

afterEach(() => Promise.all(queues.map((queue) => queue.obliterate({ force: true }))));
afterAll(() => closeQueues());

const idsOf = (list: { letters: readonly { jobId: string }[] }) => list.letters.map(({ jobId }) => jobId);

async function idsOfAllPages(filter: DeadLetterFilter, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await listDeadLetters(filter, cursor === null ? { limit } : { limit, cursor });
    expect(page.letters.length).toBeLessThanOrEqual(limit);
    ids.push(...idsOf(page));
    cursor = page.cursor;
  } while (cursor !== null);
  return ids;
}

test("each way to die for good leaves one letter with its code, and none shows the payload", async () => {
  await email.add("sendEmail", mailJob, { jobId: "left-behind" });
  await stallOut("email", "left-behind");
  const worker = await runWorker("email", async (job) => {
    throw job.id === "hopeless" ? new UnrecoverableError("[smtp_550] no such mailbox") : new Error("[smtp_451] busy");
  });
  const hopeless = untilJob(worker, "failed", "hopeless");
  await email.add("sendEmail", mailJob, { jobId: "hopeless", attempts: 5 });
  await hopeless;
  const tried = untilJob(worker, "failed", "tried-out", 2);
  await email.add("sendEmail", mailJob, { jobId: "tried-out", attempts: 2, backoff: 0 });
  await tried;
  await worker.close();

  const { letters, cursor } = await listDeadLetters();
  expect(cursor).toBeNull();
  expect(letters.map(({ jobId, code, attemptsMade, starts }) => [jobId, code, attemptsMade, starts])).toEqual([
    ["tried-out", "smtp_451", 2, 2],
    ["hopeless", "smtp_550", 1, 1],
    ["left-behind", "poison", 1, 2],
  ]);
  expect(letters[1]).toEqual({
    queue: "email",
    jobId: "hopeless",
    action: "sendEmail",
    code: "smtp_550",
    message: "no such mailbox",
    attemptsMade: 1,
    starts: 1,
    createdAt: expect.stringMatching(/^20\d\d-.*Z$/),
    failedAt: expect.stringMatching(/^20\d\d-.*Z$/),
    replays: 0,
    lastReplayedAt: null,
    stack: expect.stringContaining("no such mailbox"),
  });
  expect(JSON.stringify(letters)).not.toContain(payloadMarker);
});

test("pages over all queues show every letter once, the newest first, also where many failed in one millisecond", async () => {
  const jobs = (letter: string) =>
    Array.from({ length: 130 }, (_, index) => ({
      jobId: `${letter}${String(index).padStart(3, "0")}`,
      failedAtMs: index < 125 ? 5_000 : 5_000 + index,
    }));
  await putFailed(email, jobs("e"));
  await putFailed(webhook, jobs("w"));
  const newestFirst = [
    ...[129, 128, 127, 126, 125].flatMap((index) => [`w${index}`, `e${index}`]),
    ...jobs("w")
      .slice(0, 125)
      .map(({ jobId }) => jobId)
      .toReversed(),
    ...jobs("e")
      .slice(0, 125)
      .map(({ jobId }) => jobId)
      .toReversed(),
  ];
  expect(await idsOfAllPages({}, 37)).toEqual(newestFirst);
  expect(await idsOfAllPages({ queues: ["webhook"] }, 200)).toEqual(newestFirst.filter((id) => id.startsWith("w")));
});

test("a letter that leaves between two pages takes no other with it", async () => {
  await putFailed(
    email,
    ["a", "b", "c", "d"].map((jobId) => ({ jobId, failedAtMs: 5_000 })),
  );
  const first = await listDeadLetters({}, { limit: 2 });
  expect(idsOf(first)).toEqual(["d", "c"]);
  for (const jobId of ["c", "d"]) await email.remove(jobId);
  expect(idsOf(await listDeadLetters({}, { cursor: first.cursor ?? "" }))).toEqual(["b", "a"]);
});

test.each<[string, DeadLetterFilter, string[]]>([
  ["nothing", {}, ["new", "other-action", "other-queue", "old"]],
  ["a queue", { queues: ["webhook"] }, ["other-queue"]],
  ["an action", { actions: ["sendFax", "sendPigeon"] }, ["other-action"]],
  ["a code", { codes: ["timeout"] }, ["old"]],
  ["cancelled jobs", { codes: ["cancelled"] }, ["called-off"]],
  ["older ones", { olderThanMs: 60_000 }, ["other-queue", "old"]],
  ["newer ones", { newerThanMs: 3_600_000 }, ["new", "other-action", "other-queue"]],
  ["text of the message, in any case", { text: "PIGEON" }, ["old"]],
  ["text of the id", { text: "Other-" }, ["other-action", "other-queue"]],
  ["several things at once", { queues: ["email"], codes: ["smtp_550"], text: "other" }, ["other-action"]],
])("asked for %s, that is what it lists", async (_, filter, expected) => {
  const now = Date.now();
  await putFailed(email, [
    { jobId: "new", failedAtMs: now - 1_000 },
    { jobId: "other-action", failedAtMs: now - 2_000, fields: { name: "sendFax" } },
    { jobId: "called-off", failedAtMs: now - 3_000, fields: { failedReason: cancelledReason } },
    { jobId: "old", failedAtMs: now - 7_200_000, code: "timeout", message: "the pigeon was slow" },
  ]);
  await putFailed(webhook, [{ jobId: "other-queue", failedAtMs: now - 120_000 }]);
  expect(idsOf(await listDeadLetters(filter))).toEqual(expected);
});

test("one call looks at a thousand jobs at most, and the cursor goes on behind them", async () => {
  await putFailed(email, [{ jobId: "sought", failedAtMs: 1, code: "timeout" }]);
  const others = Array.from({ length: 1_050 }, (_, index) => ({ jobId: `job-${index}`, failedAtMs: 10 + index }));
  await putFailed(email, others);
  const first = await listDeadLetters({ codes: ["timeout"] });
  expect(first).toEqual({ letters: [], cursor: expect.any(String) });
  expect(await listDeadLetters({ codes: ["timeout"] }, { cursor: first.cursor ?? "" })).toMatchObject({
    letters: [{ jobId: "sought" }],
    cursor: null,
  });
});

test.each([
  "",
  "nonsense",
  Buffer.from("[1]").toString("base64url"),
  Buffer.from('[1,"emial","a"]').toString("base64url"),
])("%j is no cursor, and the error says so", async (cursor) => {
  await expect(listDeadLetters({}, { cursor })).rejects.toThrow(/expected a cursor that an earlier page returned/);
});
