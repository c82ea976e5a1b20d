import { closeQueues, emailQueue } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { mailJob, payloadMarker, putFailed } from "../test/failed-jobs.ts";
import { findJob } from "./find-job.ts";

const queue: Queue = emailQueue;

afterEach(() => queue.obliterate({ force: true }));
afterAll(() => closeQueues());

const damage = async (jobId: string, fields: Record<string, string>) =>
  (await queue.getBackend().client).hset(queue.toKey(jobId), fields);

test.each([
  ["data", `{bad ${payloadMarker}`],
  ["opts", "{"],
  ["progress", "4%"],
])("a waiting job whose %s is not JSON is found where it lies, with the code corrupt", async (field, text) => {
  await queue.add("sendEmail", mailJob, { jobId: "bad" });
  await damage("bad", { [field]: text });
  const found = await findJob("email", "bad");
  expect(found).toMatchObject({
    action: "sendEmail",
    status: "pending",
    error: { code: "corrupt", message: `The job cannot run: the record's field "${field}" is not JSON.` },
  });
  expect(JSON.stringify(found)).not.toContain(payloadMarker);
});

test("a waiting job whose options are no object is found where it lies, with the code corrupt", async () => {
  await queue.add("sendEmail", mailJob, { jobId: "bad" });
  await damage("bad", { opts: "null" });
  expect(await findJob("email", "bad")).toMatchObject({
    status: "pending",
    error: { code: "corrupt", message: 'The job cannot run: the record\'s field "opts" is no object.' },
  });
});

test("a failed job whose data is not JSON is failed, with the code corrupt and its times", async () => {
  await putFailed(queue, [{ jobId: "bad", failedAtMs: 1_700_000_001_000, fields: { data: "{bad" } }]);
  expect(await findJob("email", "bad")).toMatchObject({
    status: "failed",
    attempts: 3,
    createdAt: "2023-11-14T22:13:20.000Z",
    finishedAt: "2023-11-14T22:13:21.000Z",
    error: { code: "corrupt" },
  });
});

test("the stump of an evicted record is found, and says what is missing", async () => {
  await queue.add("sendEmail", mailJob, { jobId: "bad" });
  await (await queue.getBackend().client).del(queue.toKey("bad"));
  await damage("bad", { ats: "1" });
  expect(await findJob("email", "bad")).toMatchObject({
    action: "",
    status: "pending",
    createdAt: "1970-01-01T00:00:00.000Z",
    error: { code: "corrupt", message: "The job cannot run: the record is gone." },
  });
});
