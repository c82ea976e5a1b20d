import { expect, test } from "vitest";
import { mail, useFreshQueues } from "../test/queues.ts";
import { closeQueues, emailContract, emailQueue, enqueue } from "./index.ts";

useFreshQueues();

const send = (options: Parameters<typeof enqueue>[3] = {}, data = mail) =>
  enqueue(emailContract, "sendEmail", data, options);

test("an enqueue without an id is created under an id of its own, every time", async () => {
  const added = [await send(), await send()];
  expect(added.map(({ status }) => status)).toEqual(["created", "created"]);
  expect(new Set(added.map(({ jobId }) => jobId)).size).toBe(2);
});

test("an id that exists adds nothing, answers duplicate and keeps the first one's data", async () => {
  expect(await send({ jobId: "welcome-1" })).toEqual({ status: "created", jobId: "welcome-1" });
  const second = await send({ jobId: "welcome-1" }, { ...mail, subject: "Another" });
  expect(second).toEqual({ status: "duplicate", jobId: "welcome-1" });
  const stored = await emailQueue.getJob("welcome-1");
  expect(stored?.data.data).toMatchObject({ subject: mail.subject });
  expect(await emailQueue.count()).toBe(1);
});

test("of twenty twins at once exactly one is created", async () => {
  const twins = await Promise.all(
    Array.from({ length: 20 }, (_, index) => send({ jobId: "twin" }, { ...mail, subject: `Twin ${index}` })),
  );
  const created = twins.flatMap(({ status }, index) => (status === "created" ? [`Twin ${index}`] : []));
  expect(created).toHaveLength(1);
  expect((await emailQueue.getJob("twin"))?.data.data).toMatchObject({ subject: created[0] });
});

test("an id is free again once its job is gone", async () => {
  await send({ jobId: "again" });
  await emailQueue.remove("again");
  expect((await send({ jobId: "again" })).status).toBe("created");
});

test("a duplicate is recognised in every place a job can wait in", async () => {
  for (const options of [{ delayMs: 60_000 }, { priority: 3 }, {}]) {
    const jobId = `in-${Object.keys(options)[0] ?? "wait"}`;
    expect((await send({ ...options, jobId })).status).toBe("created");
    expect((await send({ ...options, jobId })).status).toBe("duplicate");
  }
});

test("an id works on after Redis lost its scripts", async () => {
  await send({ jobId: "before" });
  // The queue's own client, as it is typed for any driver.
  const client = await emailQueue.getBackend().client;
  await client.runCommand("script", ["FLUSH"]);
  expect(await send({ jobId: "after" })).toEqual({ status: "created", jobId: "after" });
  await client.runCommand("script", ["FLUSH"]);
  expect(await send({ jobId: "after" })).toEqual({ status: "duplicate", jobId: "after" });
  expect(await emailQueue.count()).toBe(2);
});

test("a delay puts the job aside for as long", async () => {
  const { jobId } = await send({ delayMs: 60_000 });
  const job = await emailQueue.getJob(jobId);
  expect(await job?.getState()).toBe("delayed");
  expect(job?.delay).toBe(60_000);
});

test("a moment in the future becomes the delay until then, in any time zone", async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString().replace("Z", "+00:00");
  const { jobId } = await send({ runAt: inAnHour });
  const job = await emailQueue.getJob(jobId);
  expect(await job?.getState()).toBe("delayed");
  expect(job?.delay).toBeGreaterThan(3_590_000);
  expect(job?.delay).toBeLessThanOrEqual(3_600_000);
});

test("a moment in the past means now", async () => {
  const { jobId } = await send({ runAt: "2001-01-01T00:00:00+02:00" });
  expect(await emailQueue.getJobState(jobId)).toBe("waiting");
});

test("the smallest priority number comes first", async () => {
  for (const priority of [10, 1, 5]) await send({ priority, jobId: `p-${priority}` });
  const waiting = await emailQueue.getPrioritized();
  expect(waiting.map(({ id }) => id)).toEqual(["p-1", "p-5", "p-10"]);
});

test("attempts come from the enqueue, else from its waits, else from the contract", async () => {
  const attempts = async (options: Parameters<typeof send>[0]) => {
    const { jobId } = await send(options);
    return (await emailQueue.getJob(jobId))?.opts.attempts;
  };
  expect(await attempts({})).toBe(5);
  expect(await attempts({ retryIntervalsMs: [10, 20] })).toBe(3);
  expect(await attempts({ retryIntervalsMs: [10, 20], attempts: 9 })).toBe(9);
});

test("what the enqueue asks of the host, and its labels, are stored around the payload", async () => {
  const { jobId } = await send({
    timeoutMs: 5_000,
    retryIntervalsMs: [100, 200],
    resultTtlMs: 60_000,
    meta: { requestId: "r-1", tries: 2, urgent: true },
  });
  expect((await emailQueue.getJob(jobId))?.data).toEqual({
    type: "sendEmail",
    data: mail,
    run: { timeoutMs: 5_000, retryIntervalsMs: [100, 200], resultTtlMs: 60_000 },
    meta: { requestId: "r-1", tries: 2, urgent: true },
  });
});

test("without such options the record holds the type and the payload alone", async () => {
  const { jobId } = await send();
  expect((await emailQueue.getJob(jobId))?.data).toEqual({ type: "sendEmail", data: mail });
});

test("a job lies under QUEUE_PREFIX, and another prefix does not see it", async () => {
  await send({ jobId: "mine" });
  expect(emailQueue.toKey("mine")).toBe(`${process.env.QUEUE_PREFIX}:email:mine`);
  await closeQueues();
  process.env.QUEUE_PREFIX = `${process.env.QUEUE_PREFIX}-other`;
  expect(await emailQueue.getJob("mine")).toBeUndefined();
});
