import type { Logger } from "@millrace/logger";
import type { RedisConnectionOptions } from "@millrace/redis";
import { defaultWorkerOptions } from "@millrace/worker-config";
import {
  type DataSchemas,
  parseJobFailure,
  type QueueContract,
  type ResultSchemas,
} from "@millrace/worker-config/contracts";
import { type RedisClient, Worker } from "bullmq";
import { abortReasons } from "./abort-reason.ts";
import type { JobHandlers } from "./job-handlers.ts";
import { processJob } from "./process-job.ts";

export interface WorkerSettings {
  readonly connection: RedisConnectionOptions;
  readonly prefix: string;
  readonly concurrency: number;
  readonly log: Logger;
}

/** A worker that takes jobs until it is told to stop. */
export interface RunningWorker {
  /** Whether Redis answers and jobs are being taken. */
  isReady(): boolean;
  /** Resolves when the worker takes jobs. Without Redis that is when Redis comes. */
  untilReady(): Promise<void>;
  /**
   * Takes no more jobs and waits for those that run. At the deadline their signals abort and the jobs go back to the head of the queue,
   * without having used up an attempt. A job whose hand-back does not get through within a second is left to another worker's stalled
   * check.
   *
   * @returns whether everything came to its end in time
   */
  stop(graceMs: number): Promise<boolean>;
}

const afterAbortMs = 1_000;

/** Connects a contract and its handlers to the contract's queue. Knows no environment, no signal and no process. */
export function startWorker<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(
  contract: QueueContract<Name, Data, Result>,
  handlers: JobHandlers<Data, Result>,
  { connection, prefix, concurrency, log }: WorkerSettings,
): RunningWorker {
  let running = 0;
  const worker = new Worker<unknown, unknown, string>(
    contract.name,
    // BullMQ hands over the signal only to a function that declares three parameters.
    async (job, token, signal) => {
      running += 1;
      try {
        return await processJob(contract, handlers, log, job, token, signal);
      } finally {
        running -= 1;
      }
    },
    { ...defaultWorkerOptions, connection, prefix, concurrency },
  );
  const clients = watchClients(worker, log);
  worker.on("error", (err) => {
    // Without Redis every attempt to connect is an error; the outage itself is told once.
    if (clients.areReady()) log.error({ err }, "worker error");
    else clients.reportLoss(err);
  });
  // Another worker has the job: what this one still does for it would be done twice.
  worker.on("lockRenewalFailed", (jobIds) => {
    for (const jobId of jobIds) worker.cancelJob(jobId, abortReasons.lockLost);
  });
  worker.on("stalled", (jobId) => log.warn({ queue: contract.name, jobId }, "job stalled and starts again"));
  // Outcomes are logged where they are decided; these are the engine's own decisions.
  worker.on("failed", (job, error) => {
    const { code, message } = parseJobFailure(error.message);
    if (code !== "stalled" && code !== "poison") return;
    log.error({ queue: contract.name, action: job?.name, jobId: job?.id, outcome: "failed", code }, message);
  });
  return {
    isReady: () => clients.areReady() && worker.isRunning() && !worker.closing,
    untilReady: async () => worker.waitUntilReady(),
    stop: async (graceMs) => {
      if (!clients.areReady() && running === 0) {
        // Nothing to wait for, and BullMQ would wait for Redis.
        worker.close(true).catch(() => {});
        return true;
      }
      const closed = worker.close().then(() => true);
      if (await settlesWithin(closed, graceMs)) return true;
      worker.cancelAllJobs(abortReasons.interrupted);
      await settlesWithin(closed, afterAbortMs);
      return false;
    },
  };
}

async function settlesWithin(done: Promise<boolean>, limitMs: number): Promise<boolean> {
  const { promise: tooLate, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), limitMs);
  try {
    return await Promise.race([done, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

interface WatchedClients {
  areReady(): boolean;
  /** Logs an outage of Redis, once until it is over. */
  reportLoss(err?: Error): void;
}

/** A worker holds two connections, one of which waits for jobs. BullMQ says `ready` only once, so readiness is the clients' own. */
function watchClients(worker: Worker<unknown, unknown, string>, log: Logger): WatchedClients {
  const { client, blockingClient } = worker.getBackend();
  const known: { readonly status: string }[] = [];
  const areReady = () => known.length === 2 && known.every(({ status }) => status === "ready");
  let isLost = false;
  const reportLoss = (err?: Error) => {
    if (isLost || worker.closing) return;
    isLost = true;
    log.error({ code: "redis_unreachable", err }, "cannot reach Redis, trying again");
  };
  const onReady = () => {
    if (!isLost || !areReady()) return;
    isLost = false;
    log.info("reached Redis again");
  };
  const watch = async (pending: Promise<RedisClient> | undefined) => {
    const connected = await pending;
    if (!connected) return;
    known.push(connected);
    connected.on("close", () => reportLoss());
    connected.on("ready", onReady);
    onReady();
  };
  // A client that never came to life has reported through the worker's error event.
  for (const pending of [client, blockingClient]) watch(pending).catch(() => {});
  return { areReady, reportLoss };
}
