import { inspect } from "node:util";
import { expect, test, vi } from "vitest";
import { cleanUpRedis, kill, outageOf, ownRedis } from "../test/own-redis.ts";
import { mail } from "../test/queues.ts";
import { marker } from "../test/refusal.ts";
import { askQueue, closeQueues, emailContract, emailQueue, enqueue } from "./index.ts";

cleanUpRedis();

// What a caller with an HTTP request in hand can wait.
const patienceMs = 2_000;
const send = (jobId?: string) =>
  enqueue(emailContract, "sendEmail", { ...mail, subject: marker }, jobId === undefined ? {} : { jobId });
const timed = async (call: Promise<unknown>) => {
  const startedAt = performance.now();
  await call;
  return performance.now() - startedAt;
};
/** Collects the process's warnings while `during` runs. */
const warningsOf = async (during: () => Promise<unknown>) => {
  const warnings: string[] = [];
  const listen = (warning: Error) => void warnings.push("code" in warning ? String(warning.code) : warning.name);
  process.on("warning", listen);
  try {
    await during();
  } finally {
    process.off("warning", listen);
  }
  return warnings;
};

test("Redis that dies after use: an enqueue is refused in time, and the next one after its return succeeds by itself", async () => {
  const redis = await ownRedis();
  await send();
  await kill(redis);
  for (const jobId of [undefined, "with-id"]) {
    const { error, tookMs } = await outageOf(send(jobId));
    expect(error.mayHaveHappened).toBe(false);
    expect(error.code).toBe("queue_unavailable");
    expect(error.message).toContain("No job was added");
    expect(tookMs).toBeLessThan(patienceMs);
  }
  await ownRedis(redis.port);
  expect((await send("with-id")).status).toBe("created");
  expect((await send("another")).status).toBe("created");
  expect(await emailQueue.count()).toBe(2);
});

test("an enqueue that comes shortly before Redis is back waits for it and is served", async () => {
  const redis = await ownRedis();
  await send();
  await kill(redis);
  const restarting = ownRedis(redis.port);
  await vi.waitFor(async () => expect((await send("patient")).status).toMatch(/created|duplicate/), {
    timeout: 10_000,
  });
  await restarting;
  expect(await emailQueue.count()).toBe(1);
});

test("an outage is a warning once, however many ask during it, and what asks does not pile up", async () => {
  const redis = await ownRedis();
  await send();
  const warnings = await warningsOf(async () => {
    await kill(redis);
    const asked = await Promise.all(Array.from({ length: 200 }, (_, index) => outageOf(send(`many-${index}`))));
    expect(asked.every(({ tookMs }) => tookMs < patienceMs)).toBe(true);
  });
  expect(warnings).toEqual(["MILLRACE_REDIS"]);
  await ownRedis(redis.port);
  await send();
  expect(await emailQueue.count()).toBe(1);
});

test("Redis that freezes: the caller is told in time that the job may come, and asking again with its id is safe", async () => {
  const redis = await ownRedis();
  await send("before");
  process.kill(redis.pid, "SIGSTOP");
  const { error, tookMs } = await outageOf(send("frozen"));
  const { error: withoutId } = await outageOf(send());
  expect([error.mayHaveHappened, withoutId.mayHaveHappened]).toEqual([true, true]);
  expect(error.message).toContain("may have been added");
  expect(tookMs).toBeLessThan(patienceMs);
  process.kill(redis.pid, "SIGCONT");
  expect(await send("frozen")).toEqual({ status: "duplicate", jobId: "frozen" });
  expect(await emailQueue.count()).toBe(3);
});

test("Redis that dies between the command and its reply: the caller is told at once that the job may have been added", async () => {
  for (const jobId of [undefined, "with-id"]) {
    const redis = await ownRedis();
    await send();
    process.kill(redis.pid, "SIGSTOP");
    // The command is written in the turns of the event loop before the kill is noticed.
    const failing = outageOf(send(jobId));
    await vi.waitFor(async () => expect((await emailQueue.getBackend().client).status).toBe("ready"), 10_000);
    await kill(redis);
    const { error, tookMs } = await failing;
    expect(error.mayHaveHappened).toBe(true);
    expect(tookMs).toBeLessThan(1_400);
    expect(error.cause).toBeInstanceOf(Error);
    expect(inspect(error, { depth: 10 })).not.toContain(marker);
    await closeQueues();
  }
});

test("reading has the same deadline", async () => {
  const redis = await ownRedis();
  await send();
  process.kill(redis.pid, "SIGSTOP");
  const { tookMs } = await outageOf(askQueue(emailContract, (queue) => queue.getJobCounts()));
  expect(tookMs).toBeLessThan(patienceMs);
  process.kill(redis.pid, "SIGCONT");
  expect(await askQueue(emailContract, (queue) => queue.count())).toBe(1);
});

test.each(["SIGKILL", "SIGSTOP"] as const)("closing the queues is prompt while Redis is gone (%s)", async (signal) => {
  const redis = await ownRedis();
  await send();
  if (signal === "SIGKILL") await kill(redis);
  else process.kill(redis.pid, signal);
  expect(await timed(closeQueues())).toBeLessThan(patienceMs);
});

test("an enqueue that waits for Redis while the queues are closed is refused, and no job follows", async () => {
  const redis = await ownRedis();
  await send();
  await kill(redis);
  // A call at the very moment of the loss may have reached Redis; after this one the loss is known.
  await outageOf(send());
  const waiting = outageOf(send("waiting"));
  await closeQueues();
  const { error, tookMs } = await waiting;
  expect(error.mayHaveHappened).toBe(false);
  expect(tookMs).toBeLessThan(patienceMs);
  await ownRedis(redis.port);
  expect(await emailQueue.count()).toBe(0);
});
