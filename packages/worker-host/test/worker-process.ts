import { getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { startWorker } from "../src/start-worker.ts";
import { crashContract } from "./crash-contract.ts";
import { silent } from "./use-queue.ts";

// A worker process that a test may kill. It says over its IPC channel what it runs.
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
  },
  {
    connection: getRedisConnection("worker"),
    prefix: readQueueEnv().QUEUE_PREFIX,
    concurrency: 5,
    log: silent,
    lockDurationMs,
    stalledIntervalMs: lockDurationMs / 2,
  },
);
await worker.untilReady();
process.send?.("ready");
