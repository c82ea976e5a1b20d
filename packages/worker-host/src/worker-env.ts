import type { Environment, ReadEnv } from "@millrace/env";
import { readLoggerEnv } from "@millrace/logger";
import { readRedisEnv } from "@millrace/redis";
import { readTracing } from "@millrace/tracing";
import { readQueueEnv } from "@millrace/worker-config";
import type { QueueContract } from "@millrace/worker-config/contracts";
import { checkWorkerOptions } from "./check-worker-options.ts";
import { readWorkerHostEnv } from "./env.ts";

type WorkerEnv = ReturnType<typeof readWorkerHostEnv>;

/**
 * What the environment says about a worker, whose times fit its contract.
 *
 * @throws EnvironmentError when a variable is wrong
 * @throws WorkerOptionsError when the times do not fit together
 */
export function readWorkerEnv(contract: QueueContract, source?: Environment): WorkerEnv {
  const env = readWorkerHostEnv(source);
  checkWorkerOptions(contract, {
    lockDurationMs: env.WORKER_LOCK_DURATION_MS,
    stalledIntervalMs: env.WORKER_STALLED_INTERVAL_MS,
    shutdownGraceMs: env.WORKER_SHUTDOWN_GRACE_MS,
  });
  return env;
}

/** What `runWorker` reads for this contract, for the `readSettings` of its program. */
export function workerReaders(contract: QueueContract) {
  const worker: ReadEnv<WorkerEnv> = (source) => readWorkerEnv(contract, source);
  return { worker, redis: readRedisEnv, queue: readQueueEnv, tracing: readTracing, log: readLoggerEnv };
}
