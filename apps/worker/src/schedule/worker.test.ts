import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { listWorkers } from "@millrace/job-admin";
import { createRedis, ownKey } from "@millrace/redis";
import { listSchedules, planSchedules, registerSchedules } from "@millrace/schedules";
import { closeQueues, readQueueEnv, scheduleQueue } from "@millrace/worker-config";
import { afterAll, afterEach, expect, test } from "vitest";
import { codeSchedules } from "./schedules.ts";

const { REDIS_URL = "", DATABASE_URL = "" } = process.env;
const prefix = readQueueEnv().QUEUE_PREFIX;
const redis = createRedis("worker", REDIS_URL, () => {});
const running: ChildProcess[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  await registerSchedules([]);
  await scheduleQueue.obliterate({ force: true });
  redis.disconnect();
  await closeQueues();
});

/** The real process. Its log lines come as they are printed. */
function startProcess() {
  const main = fileURLToPath(new URL("./worker.ts", import.meta.url));
  const env = {
    REDIS_URL,
    DATABASE_URL,
    QUEUE_PREFIX: prefix,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    FILE_STORE_URL: pathToFileURL(join(tmpdir(), "millrace-never-used")).href,
  };
  const child = spawn(process.execPath, ["--conditions=millrace-source", main], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  const lines: { msg: string; health?: string; code?: string; err?: { message: string } }[] = [];
  createInterface(child.stdout).on("line", (line) => void lines.push(JSON.parse(line)));
  return { child, lines, exited: once(child, "close").then(([code]) => code) };
}

test("the process has registered the code's schedules when it is ready, says so in its readiness, and leaves with 0", async () => {
  const { child, lines, exited } = startProcess();
  await expect.poll(() => lines.map(({ msg }) => msg), { timeout: 20_000 }).toContain("worker ready");
  expect(await planSchedules(codeSchedules)).toMatchObject({ added: [], updated: [], removed: [] });
  const { schedules } = await listSchedules({ workspaceId: null });
  expect(schedules).toHaveLength(codeSchedules.length);
  const health = lines.find((line) => line.health)?.health ?? "";
  const readiness = async () => (await fetch(health)).json();
  const parts = { schedules: "ok", outbox: "ok", files: "ok", database: "ok" };
  await expect.poll(readiness, { timeout: 10_000 }).toMatchObject({ status: "ok", ...parts });
  expect((await listWorkers("schedule")).workers).toMatchObject([{ pid: child.pid, version: "0.1.0", jobCount: 0 }]);
  const scrape = await (await fetch(health.replace(/readyz$/, "metrics"))).text();
  expect(scrape).toMatch(/^schedule_runs_total\{outcome="missed"\} \d+$/m);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect((await listWorkers("schedule")).workers).toEqual([]);
});

test("a process that cannot register its schedules says so, takes no job, and ends with 1", async () => {
  const key = ownKey(prefix, "schedules", "all");
  await redis.del(key);
  await redis.set(key, "no sorted set");
  await scheduleQueue.add("sweepQueues", { type: "sweepQueues", data: {} });
  const { lines, exited } = startProcess();
  expect(await exited).toBe(1);
  await redis.del(key);
  expect(lines.map(({ msg }) => msg)).not.toContain("worker ready");
  expect(lines.find(({ msg }) => msg === "crashed")?.err?.message).toContain("schedule");
  expect(await scheduleQueue.getWaitingCount()).toBe(1);
});
