import { setTimeout as wait } from "node:timers/promises";
import { createDistributedLock, createRedis, readRedisEnv } from "@millrace/redis";
import { startProgram } from "@millrace/shutdown";
import { readQueueEnv } from "@millrace/worker-config";
import { runWorker } from "../src/run-worker.ts";
import { observedContract } from "./observed-contract.ts";

// A worker process as a domain starts it, whose `hold` runs until the test says otherwise.
const { settings } = startProgram("worker:observed", readRedisEnv);
const redis = createRedis("producer", settings.REDIS_URL, () => {});
const lock = createDistributedLock({ redis, prefix: readQueueEnv().QUEUE_PREFIX });
const released = new Promise((resolve) => process.once("message", resolve));
await runWorker(
  observedContract,
  {
    run: async ({ key }) => {
      if (key !== undefined) await lock.runExclusive({ key, timeoutInSeconds: 5, fn: () => wait(1) });
    },
    fail: async ({ code }) => {
      throw Object.assign(new Error("no"), { failureKind: "permanent", code });
    },
    hold: async () => {
      process.send?.("holds");
      await released;
      // What its handler uses is there until it has ended.
      await redis.ping();
    },
  },
  { locks: { check: () => redis.ping(), close: async () => redis.disconnect() } },
);
