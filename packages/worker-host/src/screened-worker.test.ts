import { createRedisClock } from "@millrace/redis";
import { getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { Job, Queue } from "bullmq";
import { afterAll, expect, test } from "vitest";
import { ScreenedWorker } from "./screened-worker.ts";
import { TrackedJobs } from "./tracked-jobs.ts";

const options = { connection: getRedisConnection("worker"), prefix: readQueueEnv().QUEUE_PREFIX };
const queue = new Queue("default", options);
afterAll(async () => {
  await queue.obliterate({ force: true });
  await queue.close();
});

/** Tells which locks it renews. */
class Worker extends ScreenedWorker {
  get renewed(): string[] {
    return this.lockManager.getTrackedJobIds();
  }
}

async function microtasks(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed++) await null;
}

test("the lock of a job that was in hand twice is renewed no further once both starts have ended, whichever ends first", async () => {
  const clock = createRedisClock({ askTime: async () => ["0", "0"], onSkew: () => {}, onForbidden: () => {} });
  const worker = new Worker("default", async () => {}, { ...options, autorun: false }, clock);
  const { id = "" } = await queue.add("run", {});
  for (let apart = -20; apart <= 20; apart++) {
    const recorded = Promise.withResolvers<void>();
    const ends = [Math.max(0, apart), Math.max(0, -apart)].map(async (later, start) => {
      const job = await Job.fromId(queue, id);
      if (!job) throw new Error(`job ${id} is gone`);
      job.moveToCompleted = () => recorded.promise.then(() => microtasks(later)).then(() => undefined);
      return () => worker.processJob(job, `token ${start}`);
    });
    const processed = (await Promise.all(ends)).map((process) => process());
    await expect.poll(() => worker.jobsInHand).toBe(1);
    recorded.resolve();
    await Promise.all(processed);
    expect([apart, worker.jobsInHand, worker.renewed]).toEqual([apart, 0, []]);
  }
  await worker.close();
});

test("a lock whose age is not known is due for its renewal, and one that was just taken is not, but a little older than it is", () => {
  const tracked = new TrackedJobs([
    ["unknown", { token: "token", ts: 0 }],
    ["taken", { token: "token", ts: Date.now() }],
  ]);
  expect(tracked.get("unknown")?.ts).toBeLessThan(Date.now() - 3_600_000);
  expect(tracked.get("taken")?.ts).toBeGreaterThan(Date.now() - 3_600_000);
  // By as much as a timer of a quarter of its life and two readings of a clock are rounded.
  expect(tracked.get("taken")?.ts).toBeLessThan(Date.now() - 2);
});
