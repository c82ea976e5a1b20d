import { createLogger } from "@millrace/logger";
import { redisConnectionOptions } from "@millrace/redis";
import { startWorker } from "@millrace/worker-host";
import { rateContract } from "./contract.ts";

// One of the worker processes over which a queue's rate limit is to hold. It tells when each job started.
const [redisUrl = "", prefix = ""] = process.argv.slice(2);
const worker = startWorker(
  rateContract,
  {
    run: async () => {
      process.send?.(Date.now());
    },
  },
  {
    connection: redisConnectionOptions("worker", redisUrl),
    prefix,
    concurrency: 50,
    log: createLogger({ level: "silent" }),
  },
);
process.once("message", async () => {
  await worker.stop(10_000);
  process.disconnect?.();
});
