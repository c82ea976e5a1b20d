import { Worker } from "bullmq";
import { afterEach, expect, test, vi } from "vitest";
import { mail, useFreshQueues } from "../test/queues.ts";
import { type EnqueueOptions, emailContract, emailQueue, enqueue, getRedisConnection } from "./index.ts";

useFreshQueues();

const send = (dedupe: EnqueueOptions["dedupe"], subject = mail.subject, options: EnqueueOptions = {}) =>
  enqueue(emailContract, "sendEmail", { ...mail, subject }, { ...options, ...(dedupe && { dedupe }) });

const workers: Worker[] = [];
// By force: a job that nobody finishes is part of some tests.
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close(true))));

/** A worker that reports each subject it takes and finishes a job when it is told to. */
function work(): { seen: string[]; finish: () => void } {
  const seen: string[] = [];
  const gates: (() => void)[] = [];
  workers.push(
    new Worker(
      "email",
      async (job) => {
        seen.push(job.data.data.subject);
        await new Promise<void>((resolve) => gates.push(resolve));
      },
      { connection: getRedisConnection("worker"), prefix: String(process.env.QUEUE_PREFIX) },
    ),
  );
  return { seen, finish: () => gates.splice(0).forEach((open) => void open()) };
}

/** Waits until the queue holds so many finished jobs. */
const completed = (count: number) =>
  vi.waitFor(async () => expect(await emailQueue.getCompletedCount()).toBe(count), { timeout: 10_000 });
const taken = (seen: string[], subjects: string[]) =>
  vi.waitFor(() => expect(seen).toEqual(subjects), { timeout: 10_000 });

test("drop: a further one adds nothing while the first waits or runs, and answers the first one's id", async () => {
  const first = await send({ key: "k", mode: "drop" }, "first");
  expect(first.status).toBe("created");
  expect(await send({ key: "k", mode: "drop" }, "second")).toEqual({ status: "duplicate", jobId: first.jobId });
  const { seen, finish } = work();
  await taken(seen, ["first"]);
  expect(await send({ key: "k", mode: "drop" }, "third")).toEqual({ status: "duplicate", jobId: first.jobId });
  finish();
  await completed(1);
  expect((await send({ key: "k", mode: "drop" }, "fourth")).status).toBe("created");
});

test("drop with ttlMs: the key holds on after the job is done, and no longer than that", async () => {
  const dedupe = { key: "k", mode: "drop", ttlMs: 2_000 } as const;
  const startedAt = Date.now();
  const first = await send(dedupe);
  const { seen, finish } = work();
  await taken(seen, [mail.subject]);
  finish();
  await completed(1);
  expect(await send(dedupe)).toEqual({ status: "duplicate", jobId: first.jobId });
  await vi.waitFor(async () => expect((await send(dedupe)).status).toBe("created"), { timeout: 10_000, interval: 100 });
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_900);
});

test("keys are apart from each other and from job ids", async () => {
  await enqueue(emailContract, "sendEmail", mail, { jobId: "k" });
  expect((await send({ key: "k", mode: "drop" })).status).toBe("created");
  expect((await send({ key: "l", mode: "drop" })).status).toBe("created");
});

test("of twenty with one key at once exactly one is created, and the others name it", async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => send({ key: "k", mode: "drop" })));
  const created = all.filter(({ status }) => status === "created");
  expect(created).toHaveLength(1);
  expect(new Set(all.map(({ jobId }) => jobId))).toEqual(new Set([created[0]?.jobId]));
});

test("latest: a further one takes the place of the delayed one and its time starts anew", async () => {
  const dedupe = { key: "k", mode: "latest" } as const;
  const first = await send(dedupe, "first", { delayMs: 60_000 });
  const second = await send(dedupe, "second", { delayMs: 90_000 });
  expect([first.status, second.status]).toEqual(["created", "created"]);
  const delayed = await emailQueue.getDelayed();
  expect(delayed).toMatchObject([{ id: second.jobId, data: { data: { subject: "second" } }, delay: 90_000 }]);
  expect(delayed).toHaveLength(1);
});

test("latest: the last one runs once its delay is over", async () => {
  const { seen, finish } = work();
  for (const subject of ["first", "second", "third"])
    await send({ key: "k", mode: "latest" }, subject, { delayMs: 200 });
  await taken(seen, ["third"]);
  finish();
  await completed(1);
});

test("again: of those that come while the first runs, the last one runs after it", async () => {
  const { seen, finish } = work();
  const first = await send({ key: "k", mode: "again" }, "first");
  await taken(seen, ["first"]);
  for (const subject of ["second", "third"]) {
    expect(await send({ key: "k", mode: "again" }, subject)).toEqual({ status: "duplicate", jobId: first.jobId });
  }
  finish();
  await taken(seen, ["first", "third"]);
  finish();
  await completed(2);
});

test("again: one that comes while the first still waits adds nothing", async () => {
  const first = await send({ key: "k", mode: "again" }, "first");
  expect(await send({ key: "k", mode: "again" }, "second")).toEqual({ status: "duplicate", jobId: first.jobId });
  expect(await emailQueue.count()).toBe(1);
});
