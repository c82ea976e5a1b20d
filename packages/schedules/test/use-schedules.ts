import { randomUUID } from "node:crypto";
import { createLogger, type Logger } from "@millrace/logger";
import {
  askQueue,
  closeQueues,
  contracts,
  emailContract,
  emailQueue,
  getRedisConnection,
  readQueueEnv,
} from "@millrace/worker-config";
import { Worker } from "bullmq";
import { afterAll, afterEach } from "vitest";
import { defineSchedule } from "../src/define-schedule.ts";
import { registerSchedules } from "../src/register-schedules.ts";
import type { Schedule } from "../src/schedule.ts";
import { createScheduler, type SchedulerOptions } from "../src/scheduler.ts";
import { runScript } from "../src/schedules-in-redis.ts";

export const silent: Logger = createLogger({ level: "silent" });
export const mail = { to: "ada@example.com", subject: "Digest", text: "MARKER" };

/** A schedule of a workspace's own. */
export function tenantSchedule(overrides: Partial<Schedule> = {}): Schedule {
  return {
    id: randomUUID(),
    workspaceId: "workspace-1",
    cadence: { everyMs: 100 },
    queue: "email",
    action: "sendEmail",
    data: mail,
    overlap: "queue",
    missed: "once",
    ...overrides,
  };
}

/** A schedule of the code. */
export function codeSchedule(id: string, everyMs = 100, overlap: "skip" | "queue" = "queue") {
  return defineSchedule({ id, everyMs, contract: emailContract, action: "sendEmail", data: mail, overlap });
}

/** A log whose lines can be read. */
export function keptLog() {
  const lines: { msg: string; code?: string; scheduleId?: string }[] = [];
  const log = createLogger({
    level: "info",
    format: "json",
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  return { log, lines };
}

/** Puts every due time so far into the past, as if nobody had looked for that long. */
export async function letTimePass(id: string, ms: number): Promise<void> {
  await runScript(
    `
local key = byId .. ":" .. ARGV[1]
local armed = text(redis.call("HGET", key, "due") - ARGV[2])
redis.call("HSET", key, "due", armed, "anchor", text(redis.call("HGET", key, "anchor") - ARGV[2]))
redis.call("ZADD", due, armed, ARGV[1])`,
    id,
    ms,
  );
}

export interface AddedJob {
  readonly jobId: string;
  readonly scheduleId: string;
  readonly dueAt: string;
}

/** The email jobs that schedules added, by due time. */
export async function addedJobs(): Promise<AddedJob[]> {
  const jobs = await askQueue(contracts.email, (queue) => queue.getJobs(["wait", "active", "completed", "delayed"]));
  return jobs
    .map(({ id = "", data }) => ({ jobId: id, ...data.meta }))
    .sort((one, other) => one.dueAt.localeCompare(other.dueAt));
}

/** Cleans up after each test: schedulers and workers first, then the schedules and their jobs. */
export function useSchedules() {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await runScript(
      `for _, id in ipairs(redis.call("ZRANGE", all, 0, -1)) do remove(id) end redis.call("DEL", registration)`,
    );
    await emailQueue.obliterate({ force: true });
  });
  afterAll(() => closeQueues());

  return {
    cleanUp: (close: () => Promise<unknown>) => void closing.push(close),
    start: async (options: Partial<SchedulerOptions> = {}) => {
      const scheduler = createScheduler({ schedules: [], log: silent, workspaces: undefined, ...options });
      closing.push(scheduler.close);
      await scheduler.start();
      return scheduler;
    },
    /** Runs the email jobs, each for as long as `run` takes. */
    work: (run: () => Promise<void> = async () => {}) => {
      const connection = getRedisConnection("worker");
      const worker = new Worker("email", run, { connection, prefix: readQueueEnv().QUEUE_PREFIX, concurrency: 10 });
      closing.push(() => worker.close());
      return worker;
    },
    register: registerSchedules,
  };
}
