import { closeQueues, emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import { formatJobSkip } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { putFailed } from "../test/failed-jobs.ts";
import { runWorker, untilJob } from "../test/run-worker.ts";
import { drainQueue } from "./drain-queue.ts";
import { statisticsKey } from "./read-queue-counts.ts";
import { readStats } from "./read-stats.ts";
import { sweepIndexes } from "./sweep-indexes.ts";

// The same queue under wider types.
const email: Queue = emailQueue;
const mail = { to: "bob@example.com", subject: "Hello", text: "Hello Bob" };
const read = async () => (await readStats(["email"])).queues[0];

afterEach(async () => {
  // `obliterate` does not come past a key of another kind.
  await (await email.getBackend().client).runCommand("del", [email.toKey("damaged")]);
  await email.obliterate({ force: true });
});
afterAll(() => closeQueues());

async function addMany(count: number, delayMs: number): Promise<string[]> {
  const added = Array.from({ length: count }, () => enqueue(emailContract, "sendEmail", mail, { delayMs }));
  return (await Promise.all(added)).map(({ jobId }) => jobId);
}

test("a cancelled letter and a skipped job that no worker has counted are told apart after the sweep, and nothing else is", async () => {
  const cancelled = { code: "cancelled", message: "The job was cancelled." };
  await putFailed(email, [{ jobId: "called-off", ...cancelled }, { jobId: "dead" }, { jobId: "damaged" }]);
  const client = await email.getBackend().client;
  await client.runCommand("del", [email.toKey("damaged")]);
  await client.runCommand("set", [email.toKey("damaged"), "no hash"]);
  // A worker without the host's statistics.
  const worker = await runWorker("email", async (job) =>
    job.id === "left" ? formatJobSkip({ code: "suppressed", message: "No mail." }) : { messageId: "<1>" },
  );
  for (const jobId of ["left", "sent"]) {
    const done = untilJob(worker, "completed", jobId);
    await enqueue(emailContract, "sendEmail", mail, { jobId });
    await done;
  }
  await worker.close();
  expect(await read()).toMatchObject({ failed: 3, cancelled: 0, success: 2, skipped: 0 });
  await sweepIndexes();
  const counts = { failed: 2, deadLetters: 2, cancelled: 1, success: 1, skipped: 1, total: 5 };
  expect(await read()).toMatchObject(counts);
  await sweepIndexes();
  expect(await read()).toMatchObject(counts);
});

test("jobs that come after a drain are not counted as retries of those that it removed", async () => {
  const retried = await addMany(50, 60_000);
  const client = await email.getBackend().client;
  // As the workers' statistics mark them.
  await client.runCommand("zadd", [`${statisticsKey("email")}:retrying`, ...retried.flatMap((jobId) => [1, jobId])]);
  expect(await read()).toMatchObject({ pending: 0, retrying: 50 });
  await drainQueue("email", { delayed: true });
  await addMany(30, 0);
  expect(await read()).toMatchObject({ pending: 30, retrying: 0 });
});
