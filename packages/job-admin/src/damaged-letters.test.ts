import { closeQueues, emailQueue } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { payloadMarker, putFailed } from "../test/failed-jobs.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { purgeDeadLetters } from "./purge-dead-letters.ts";
import { replayDeadLetters } from "./replay-dead-letters.ts";

const queue: Queue = emailQueue;

beforeEach(async () => {
  const client = await queue.getBackend().client;
  await putFailed(queue, [
    { jobId: "whole", failedAtMs: 9 },
    { jobId: "half-emoji", failedAtMs: 8, fields: { data: '{"type":"sendEmail","data":{"text":"\\ud83d"}}' } },
    { jobId: "broken-data", failedAtMs: 7, fields: { data: `{bad ${payloadMarker}` } },
    { jobId: "broken-options", failedAtMs: 6, fields: { opts: "{" } },
    {
      jobId: "broken-stack",
      failedAtMs: 5,
      fields: { stacktrace: "[", "mr:replays": "many", "mr:replayedAt": "1e99" },
    },
    { jobId: "nameless", failedAtMs: 4 },
    { jobId: "ageless", failedAtMs: 3, fields: { timestamp: "yesterday" } },
    { jobId: "evicted", failedAtMs: 2 },
    { jobId: "no-hash", failedAtMs: 1 },
  ]);
  await client.hdel(queue.toKey("nameless"), "name");
  await client.del(queue.toKey("evicted"), queue.toKey("no-hash"));
  await client.set(queue.toKey("no-hash"), "text");
});
afterEach(async () => {
  const client = await queue.getBackend().client;
  await client.del(queue.toKey("no-hash"));
  await queue.obliterate({ force: true });
});
afterAll(() => closeQueues());

const corrupt = ["broken-data", "broken-options", "nameless", "ageless", "evicted", "no-hash"];

test("a damaged record is a row with the code corrupt, and hides no other", async () => {
  const { letters, cursor } = await listDeadLetters();
  expect(cursor).toBeNull();
  expect(letters.map(({ jobId, code, action }) => [jobId, code, action])).toEqual([
    ["whole", "smtp_550", "sendEmail"],
    // Half of an emoji is JSON to JavaScript and none to Lua.
    ["half-emoji", "smtp_550", "sendEmail"],
    ["broken-data", "corrupt", "sendEmail"],
    ["broken-options", "corrupt", "sendEmail"],
    ["broken-stack", "smtp_550", "sendEmail"],
    ["nameless", "corrupt", null],
    ["ageless", "corrupt", "sendEmail"],
    ["evicted", "corrupt", null],
    ["no-hash", "corrupt", null],
  ]);
  expect(letters[2]?.message).toBe(
    `The job cannot run again: the record's field "data" is not JSON. It failed before: [smtp_550] no such mailbox`,
  );
  expect(letters[4]).toMatchObject({ stack: null, replays: 0, lastReplayedAt: null });
  expect(letters[7]).toMatchObject({ message: "The job cannot run again: the record is gone.", createdAt: null });
  expect(JSON.stringify(letters)).not.toContain(payloadMarker);
});

test("damaged ones are found by their code", async () => {
  const { letters } = await listDeadLetters({ codes: ["corrupt"] });
  expect(letters.map(({ jobId }) => jobId)).toEqual(corrupt);
});

test("a replay of all leaves the damaged ones where they are and replays the others", async () => {
  const report = await replayDeadLetters({ filter: {} });
  expect(report).toMatchObject({ replayed: 3, refused: { corrupt: corrupt.length }, isStopped: false });
  expect(report.refusals.map(({ jobId }) => jobId).toSorted()).toEqual(corrupt.toSorted());
  expect((await queue.getWaiting()).map(({ id }) => id).toSorted()).toEqual(["broken-stack", "half-emoji", "whole"]);
});

test("damaged ones can be purged", async () => {
  const report = await purgeDeadLetters({ olderThanMs: 0, filter: { codes: ["corrupt"] } });
  expect(report).toMatchObject({ removed: corrupt.length, kept: { left: 0, awaited: 0 } });
  expect((await listDeadLetters()).letters.map(({ jobId }) => jobId)).toEqual(["whole", "half-emoji", "broken-stack"]);
  const client = await queue.getBackend().client;
  for (const jobId of corrupt) expect(await client.runCommand("exists", [queue.toKey(jobId)]), jobId).toBe(0);
});
