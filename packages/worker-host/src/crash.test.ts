import { createLogger } from "@millrace/logger";
import { cancelledReason, parseJobFailure } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { crashContract } from "../test/crash-contract.ts";
import { useQueue } from "../test/use-queue.ts";
import { useWorkerProcesses } from "../test/worker-processes.ts";
import type { JobContext } from "./job-context.ts";
import type { SettledStart } from "./job-observer.ts";

const { prefix, raw, events, work, add, stored, ended } = useQueue(crashContract);
const startProcess = useWorkerProcesses();
const idle = { hold: async () => {}, die: async () => {}, spin: async () => ({ by: "nobody" }) };

test("a job whose worker was killed runs again elsewhere within twice its lock's duration", async () => {
  const lockDurationMs = 3_000;
  const child = startProcess(lockDurationMs);
  const jobId = await add("hold", {});
  await child.untilSaid(jobId);
  const startedAgain = Promise.withResolvers<number>();
  await work(
    { ...idle, hold: async () => startedAgain.resolve(performance.now()) },
    { lockDurationMs, stalledIntervalMs: lockDurationMs / 2 },
  );
  child.kill("SIGKILL");
  const killedAt = performance.now();
  expect((await startedAgain.promise) - killedAt).toBeLessThan(2 * lockDurationMs);
  const job = await ended(jobId);
  expect([await job.getState(), job.attemptsMade]).toEqual(["completed", 1]);
});

test("a job that was left active by the only worker runs when a worker starts again, and bears that two of them were killed", async () => {
  const jobId = await add("hold", {});
  for (let killed = 1; killed <= 2; killed++) {
    const child = startProcess();
    await child.untilSaid(jobId);
    child.kill("SIGKILL");
    await child.exited;
    expect(await raw.getJobState(jobId)).toBe("active");
  }
  await work(idle, { lockDurationMs: 1_000, stalledIntervalMs: 500 });
  const job = await ended(jobId);
  expect([await job.getState(), job.attemptsMade, job.stalledCounter]).toEqual(["completed", 1, 2]);
});

test("a job that kills its process ends in the dead letters as poison after three starts, however many attempts it has", async () => {
  await events.waitUntilReady();
  const jobId = await add("die", {}, { attempts: 10 });
  for (let start = 1; start <= 3; start++) {
    expect(await startProcess().exited).toBe("SIGKILL");
  }
  // The fourth process is told that the job is over, and lives.
  const survivor = startProcess();
  const job = await ended(jobId);
  expect([await job.getState(), job.attemptsStarted]).toEqual(["failed", 4]);
  expect(parseJobFailure(job.failedReason).code).toBe("poison");
  const next = await add("hold", {});
  await survivor.untilSaid(next);
  expect(await raw.getJobState(next)).toBe("active");
});

test("a job that kills its process can be cancelled between two of its starts", async () => {
  const jobId = await add("die", {}, { attempts: 10 });
  const child = startProcess();
  await child.exited;
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), "defa", cancelledReason]);
  startProcess();
  const job = await ended(jobId);
  expect(parseJobFailure(job.failedReason).code).toBe("cancelled");
  expect((await stored(jobId)).stalledCounter).toBe(1);
});

test("a poisonous job that leaves no dead letter still leaves a line in the log, and whoever counts hears of it", async () => {
  const jobId = "leaves-nothing";
  await raw.add("die", { type: "die", data: {} }, { jobId, removeOnFail: true });
  for (let start = 1; start <= 3; start++) await startProcess().exited;
  const logged = Promise.withResolvers<object>();
  // Other jobs' processes were killed before, and theirs may be poisonous by now as well.
  const write = (line: string) => {
    const entry: { jobId?: string } = JSON.parse(line);
    if (entry.jobId === jobId) logged.resolve(entry);
  };
  const log = createLogger({ level: "error", format: "json", destination: { write } });
  const times = { lockDurationMs: 1_000, stalledIntervalMs: 500 };
  const starts: SettledStart[] = [];
  let stalled = 0;
  const counting = {
    settled: (start: SettledStart) => starts.push(start),
    stalled: () => {
      stalled += 1;
    },
  };
  await work(idle, { log, observers: [counting], ...times });
  expect(await logged.promise).toMatchObject({ action: "die", outcome: "failed", code: "poison" });
  const poisoned = { queue: "default", action: "die", jobId, outcome: "failed", code: "poison", durationMs: null };
  expect(starts.filter((start) => start.jobId === jobId)).toMatchObject([poisoned]);
  expect(stalled).toBeGreaterThan(0);
  await expect.poll(() => raw.getJob(jobId)).toBeUndefined();
});

test("a handler that holds its event loop for longer than its lock: another process has the job, and the job completes once", async () => {
  const child = startProcess(1_000);
  const jobId = await add("spin", { order: "order-1" });
  await child.untilSaid(jobId);
  const client = await raw.getBackend().client;
  const charged = `${prefix}:charged`;
  const spin = async (_: unknown, { idempotencyKey = "" }: JobContext) => {
    await client.runCommand("rpush", [charged, idempotencyKey]);
    return { by: "the other process" };
  };
  await work({ ...idle, spin }, { lockDurationMs: 1_000, stalledIntervalMs: 500 });
  const job = await ended(jobId);
  expect([job.returnvalue, job.attemptsMade]).toEqual([{ by: "the other process" }, 1]);
  // What is called from a process that nobody can reach is called; the key says to the service that it is the same effect.
  await expect.poll(() => client.runCommand("llen", [charged]), { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
  expect(new Set(await client.runCommand("lrange", [charged, 0, -1]))).toEqual(new Set(["order-1"]));
  child.kill("SIGTERM");
  await child.exited;
  expect((await stored(jobId)).returnvalue).toEqual({ by: "the other process" });
});
