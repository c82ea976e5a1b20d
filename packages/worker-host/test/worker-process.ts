import { setImmediate } from "node:timers/promises";
import { getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { Redis } from "ioredis";
import { startWorker } from "../src/start-worker.ts";
import { crashContract } from "./crash-contract.ts";
import { silent } from "./use-queue.ts";

// A worker process that a test may kill. It says over its IPC channel what it runs.
const { QUEUE_PREFIX: prefix } = readQueueEnv();
const redis = new Redis({ ...getRedisConnection("worker") });
const lockDurationMs = Number(process.argv[2]);
const worker = startWorker(
  crashContract,
  {
    hold: async (_, { jobId }) => {
      process.send?.(jobId);
      return new Promise(() => {});
    },
    die: async () => {
      process.kill(process.pid, "SIGKILL");
    },
    spin: async (_, { jobId, idempotencyKey }) => {
      process.send?.(jobId);
      // The message leaves before the loop is held.
      await setImmediate();
      const until = performance.now() + 3 * lockDurationMs;
      while (performance.now() < until);
      await redis.rpush(`${prefix}:charged`, idempotencyKey ?? "");
      return { by: "the blocked process" };
    },
  },
  {
    connection: getRedisConnection("worker"),
    prefix,
    concurrency: 5,
    log: silent,
    lockDurationMs,
    stalledIntervalMs: lockDurationMs / 2,
  },
);
await worker.untilReady();
process.send?.("ready");
