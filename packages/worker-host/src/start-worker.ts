import type { Logger } from "@millrace/logger";
import { type RedisConnectionOptions, subscribe } from "@millrace/redis";
import { defaultWorkerOptions } from "@millrace/worker-config";
import {
  cancelChannel,
  type DataSchemas,
  type QueueContract,
  type ResultSchemas,
} from "@millrace/worker-config/contracts";
import { Worker } from "bullmq";
import { abortReasons } from "./abort-reason.ts";
import type { JobHandlers } from "./job-handlers.ts";
import { processJob } from "./process-job.ts";
import { reportEngine } from "./report-engine.ts";
import { watchClients } from "./watch-clients.ts";

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
   * without having used up an attempt. A job whose hand-back does not get through within five seconds is left to another worker's stalled
   * check.
   *
   * @returns whether everything came to its end in time
   */
  stop(graceMs: number): Promise<boolean>;
}

const afterAbortMs = 5_000;

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
  let isInterrupted = false;
  const worker = new Worker<unknown, unknown, string>(
    contract.name,
    // BullMQ hands over the signal only to a function that declares three parameters.
    async (job, token, signal) => {
      running += 1;
      try {
        // A job that was handed back can wake this worker before its connection is down: it goes back as well.
        const attemptSignal = isInterrupted ? AbortSignal.abort(abortReasons.interrupted) : signal;
        return await processJob(contract, handlers, log, job, token, attemptSignal);
      } finally {
        running -= 1;
      }
    },
    { ...defaultWorkerOptions, connection, prefix, concurrency },
  );
  const clients = watchClients(worker, log);
  reportEngine(worker, clients, log);
  // Another worker has the job: what this one still does for it would be done twice.
  worker.on("lockRenewalFailed", (jobIds) => {
    for (const jobId of jobIds) worker.cancelJob(jobId, abortReasons.lockLost);
  });
  const cancellations = subscribe(connection, cancelChannel(prefix, contract.name), (jobId) => {
    worker.cancelJob(jobId, abortReasons.cancelled);
  });
  const interrupt = () => {
    isInterrupted = true;
    worker.cancelAllJobs(abortReasons.interrupted);
  };
  return {
    isReady: () => clients.areReady() && worker.isRunning() && !worker.closing,
    untilReady: async () => {
      await Promise.all([worker.waitUntilReady(), cancellations.ready]);
    },
    stop: async (graceMs) => {
      // Without Redis and without a running job there is nothing to wait for, and BullMQ would wait for Redis.
      const isIdle = !clients.areReady() && running === 0;
      const isDrained = isIdle ? abandon(worker) : await drain(worker, graceMs, interrupt);
      cancellations.close();
      return isDrained;
    },
  };
}

function abandon(worker: Worker<unknown, unknown, string>): true {
  worker.close(true).catch(() => {});
  return true;
}

async function drain(
  worker: Worker<unknown, unknown, string>,
  graceMs: number,
  interrupt: () => void,
): Promise<boolean> {
  const closed = worker.close().then(() => true);
  if (await settlesWithin(closed, graceMs)) return true;
  interrupt();
  await settlesWithin(closed, afterAbortMs);
  return false;
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
