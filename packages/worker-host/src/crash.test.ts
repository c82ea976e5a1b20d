import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createLogger } from "@millrace/logger";
import { cancelledReason, parseJobFailure } from "@millrace/worker-config/contracts";
import { afterEach, expect, test } from "vitest";
import { crashContract } from "../test/crash-contract.ts";
import { useQueue } from "../test/use-queue.ts";

const { raw, events, work, add, stored, ended } = useQueue(crashContract);
const processes: ChildProcess[] = [];

afterEach(async () => {
  for (const child of processes.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

async function startProcess(lockDurationMs = 1_000): Promise<ChildProcess> {
  const child = fork(new URL("../test/worker-process.ts", import.meta.url), [String(lockDurationMs)], {
    execArgv: ["--conditions=source"],
  });
  processes.push(child);
  await untilSaid(child, "ready");
  return child;
}

async function untilSaid(child: ChildProcess, message: string): Promise<void> {
  for (;;) {
    const [said] = await once(child, "message");
    if (said === message) return;
  }
}

test("a job whose worker was killed runs again elsewhere within twice its lock's duration", async () => {
  const lockDurationMs = 2_000;
  const child = await startProcess(lockDurationMs);
  const jobId = await add("hold", {});
  await untilSaid(child, jobId);
  const startedAgain = Promise.withResolvers<number>();
  await work(
    { hold: async () => startedAgain.resolve(performance.now()), die: async () => {} },
    { lockDurationMs, stalledIntervalMs: lockDurationMs / 2 },
  );
  child.kill("SIGKILL");
  const killedAt = performance.now();
  expect((await startedAgain.promise) - killedAt).toBeLessThan(2 * lockDurationMs);
  const job = await ended(jobId);
  expect([await job.getState(), job.attemptsMade]).toEqual(["completed", 1]);
});

test("a job that was left active by the only worker, which was killed, runs when a worker starts again", async () => {
  const child = await startProcess();
  const jobId = await add("hold", {});
  await untilSaid(child, jobId);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await raw.getJobState(jobId)).toBe("active");
  await work({ hold: async () => {}, die: async () => {} }, { lockDurationMs: 1_000, stalledIntervalMs: 500 });
  expect(await (await ended(jobId)).getState()).toBe("completed");
});

test("a job that kills its process ends in the dead letters as poison after three starts, however many attempts it has", async () => {
  await events.waitUntilReady();
  const jobId = await add("die", {}, { attempts: 10 });
  for (let start = 1; start <= 3; start++) {
    const child = await startProcess();
    const [, signal] = await once(child, "exit");
    expect(signal).toBe("SIGKILL");
  }
  // The fourth process is told that the job is over, and lives.
  const survivor = await startProcess();
  const job = await ended(jobId);
  expect([await job.getState(), job.attemptsStarted]).toEqual(["failed", 4]);
  expect(parseJobFailure(job.failedReason).code).toBe("poison");
  const next = await add("hold", {});
  await untilSaid(survivor, next);
  expect(await raw.getJobState(next)).toBe("active");
});

test("a job that kills its process can be cancelled between two of its starts", async () => {
  const jobId = await add("die", {}, { attempts: 10 });
  const child = await startProcess();
  await once(child, "exit");
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), "defa", cancelledReason]);
  await startProcess();
  const job = await ended(jobId);
  expect(parseJobFailure(job.failedReason).code).toBe("cancelled");
  expect((await stored(jobId)).stalledCounter).toBe(1);
});

test("a poisonous job that leaves no dead letter still leaves a line in the log", async () => {
  const jobId = "leaves-nothing";
  await raw.add("die", { type: "die", data: {} }, { jobId, removeOnFail: true });
  for (let start = 1; start <= 3; start++) await once(await startProcess(), "exit");
  const logged = Promise.withResolvers<object>();
  const log = createLogger({
    level: "error",
    format: "json",
    destination: { write: (line) => logged.resolve(JSON.parse(line)) },
  });
  const times = { lockDurationMs: 1_000, stalledIntervalMs: 500 };
  await work({ hold: async () => {}, die: async () => {} }, { log, ...times });
  expect(await logged.promise).toMatchObject({ jobId, action: "die", outcome: "failed", code: "poison" });
  await expect.poll(() => raw.getJob(jobId)).toBeUndefined();
});
