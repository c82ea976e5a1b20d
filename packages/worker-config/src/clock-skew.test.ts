import { fileURLToPath } from "node:url";
import { type Job, Worker } from "bullmq";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runNode } from "../test/run-node.ts";
import { emailContract, emailQueue, enqueue, getRedisConnection, readQueueEnv } from "./index.ts";

const packageDir = fileURLToPath(new URL("..", import.meta.url));
const { QUEUE_PREFIX: prefix } = readQueueEnv();

/** By the clock of this process, which is Redis' as well: how late each job started, and how old it said it was. */
const started = new Map<string, { lateMs: number; ageMs: number }>();
let worker: Worker;

beforeAll(async () => {
  const onJob = async ({ id = "", timestamp, data }: Job<{ meta: { dueAt: number } }>) => {
    started.set(id, { lateMs: Date.now() - data.meta.dueAt, ageMs: Date.now() - timestamp });
  };
  worker = new Worker("email", onJob, { connection: getRedisConnection("worker"), prefix });
  await worker.waitUntilReady();
});
afterAll(() => worker.close());

/** Runs a producer in a process of its own, whose clock is ahead of everybody's. Returns the codes that it was warned with, and what it says. */
async function produce(aheadMs: number, program: string): Promise<string[]> {
  const shift = `globalThis.trueNow = Date.now; Date.now = () => trueNow() + ${aheadMs};`;
  const environment = { REDIS_URL: process.env.REDIS_URL, QUEUE_PREFIX: prefix };
  const { code, stdout, stderr } = await runNode(
    [
      ...[
        "--no-warnings",
        "--conditions=millrace-source",
        `--import=data:text/javascript,${encodeURIComponent(shift)}`,
      ],
      ...["--input-type=module", "-e"],
      `Object.assign(process.env, ${JSON.stringify(environment)});
      process.on("warning", ({ code }) => console.log(code));
      const { closeQueues, emailContract, emailQueue, enqueue } = await import("@millrace/worker-config");
      const data = { to: "ada@example.com", subject: "Hello", text: "Hello." };
      const due = (inMs) => ({ dueAt: trueNow() + inMs });
      const send = (options) => enqueue(emailContract, "sendEmail", data, options);
      const sendIn = (delayMs, jobId) => send({ delayMs, jobId, meta: due(delayMs) });
      const sendAt = (inMs, jobId) => send({ runAt: new Date(trueNow() + inMs).toISOString(), jobId, meta: due(inMs) });
      const bulk = (delay, jobId) =>
        emailQueue.addBulk([{ name: "sendEmail", data: { type: "sendEmail", data, meta: due(delay) }, opts: { delay, jobId } }]);
      ${program}
      await closeQueues();`,
    ],
    packageDir,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trim().split("\n").filter(Boolean);
}

test("a producer whose clock is a minute off, either way: what it delays runs when it should, and it is warned once", async () => {
  const program = (side: string) => `await sendIn(100, "${side}-first");
    await Promise.all([sendIn(100, "${side}-second"), sendAt(600, "${side}-timed"), bulk(100, "${side}-bulk")]);`;
  const warnings = await Promise.all([produce(60_000, program("ahead")), produce(-60_000, program("behind"))]);
  await expect.poll(() => started.size, { timeout: 5_000 }).toBe(8);
  for (const [jobId, { lateMs, ageMs }] of started) {
    expect(lateMs, `${jobId} is late`).toBeLessThan(2_000);
    // A measure is true to half of its round trip, which is longer on a busy machine.
    expect(lateMs, `${jobId} is early`).toBeGreaterThan(-300);
    expect(Math.abs(ageMs), `${jobId} is dated wrongly`).toBeLessThan(5_000);
  }
  expect(warnings).toEqual([["clock_skew"], ["clock_skew"]]);
});

test("a producer whose clock is right leaves the time of its jobs to BullMQ", async () => {
  const data = { to: "ada@example.com", subject: "Hello", text: "Hello." };
  const { jobId } = await enqueue(emailContract, "sendEmail", data, { jobId: "right", delayMs: 60_000 });
  const job = await emailQueue.getJob(jobId);
  expect(job?.opts).not.toHaveProperty("timestamp");
});
