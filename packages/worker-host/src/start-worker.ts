import type { Logger } from "@millrace/logger";
import type { RedisClock, RedisConnectionOptions } from "@millrace/redis";
import type { Tracing } from "@millrace/tracing";
import { defaultWorkerOptions, enqueue } from "@millrace/worker-config";
import type { DataSchemas, QueueContract, ResultSchemas } from "@millrace/worker-config/contracts";
import type { RedisClient } from "bullmq";
import { explainRefusal } from "./check-redis.ts";
import { checkWorkerOptions } from "./check-worker-options.ts";
import { declareQueueLimits } from "./declare-queue-limits.ts";
import type { Enqueue } from "./job-context.ts";
import { actionsWithoutHandler, type JobHandlers } from "./job-handlers.ts";
import type { JobHost, WorkspaceStandings } from "./job-host.ts";
import type { JobObserver } from "./job-observer.ts";
import { createNoteWriter } from "./note-writer.ts";
import { processJob } from "./process-job.ts";
import { quarantine } from "./quarantine-job.ts";
import { createRedisEffectStore } from "./redis-effect-store.ts";
import { reportEngine } from "./report-engine.ts";
import { createRunningAttempts, type RunningJob } from "./running-attempts.ts";
import { isUnreadable, ScreenedWorker } from "./screened-worker.ts";
import { settleJob } from "./settle-job.ts";
import { answers, stopWorker } from "./stop-worker.ts";
import { toStartedJob } from "./to-started-job.ts";
import { waitOutRefusals } from "./wait-out-refusals.ts";
import { watchCancellations } from "./watch-cancellations.ts";
import { watchClients } from "./watch-clients.ts";
import { watchFetchLoop } from "./watch-fetch-loop.ts";
import { watchLocks } from "./watch-locks.ts";
import { createWorkerClock } from "./worker-clock.ts";

export interface WorkerSettings {
  readonly connection: RedisConnectionOptions;
  readonly prefix: string;
  readonly concurrency: number;
  readonly log: Logger;
  /** How long a worker that fell silent keeps its jobs, and how often one looks for such jobs. Both default to `defaultWorkerOptions`. */
  readonly lockDurationMs?: number;
  readonly stalledIntervalMs?: number;
  /** How often the watch looks whether jobs are still asked for; the fourth look at a loop that stands says `isWedged`. Defaults to 15 seconds. */
  readonly lookEveryMs?: number;
  /** Who is blocked; without it nobody is. */
  readonly workspaces?: WorkspaceStandings;
  /** How handlers add jobs. Defaults to `enqueue` of `@millrace/worker-config`. */
  readonly enqueue?: Enqueue;
  /** Whoever counts what becomes of jobs. Defaults to nobody. */
  readonly observers?: readonly JobObserver[];
  /** Traces attempts. Defaults to nothing. */
  readonly tracing?: Pick<Tracing, "traceAttempt"> | undefined;
  /** Awaited before the first job is taken; where it throws, none is. */
  readonly prepare?: (client: RedisClient) => Promise<void>;
}

/** A worker that takes jobs until it is told to stop. */
export interface RunningWorker {
  /** Whether Redis answers and jobs are being taken. */
  isReady(): boolean;
  /** Asks Redis, which may take a second to be given up: a connection may look well on which nothing comes any more. */
  redisAnswers(): Promise<boolean>;
  /** Whether it asks for no job any more though Redis answers and there is room: only another process helps. */
  isWedged(): boolean;
  /** Resolves when the worker takes jobs. Without Redis that is when Redis comes. Rejects when Redis was refused. */
  untilReady(): Promise<void>;
  /** How far this machine's clock is ahead of Redis', in milliseconds; below 0 it is behind. Undefined while that is not known. */
  clockSkewMs(): number | undefined;
  /** The jobs that it runs at this moment. */
  jobs(): readonly RunningJob[];
  /**
   * Takes no more jobs and waits for those that run. At the deadline their signals abort and the jobs go back to the head of the queue,
   * without having used up an attempt. A job whose hand-back does not get through within five seconds is left to another worker's stalled
   * check.
   *
   * @returns whether everything came to its end in time
   */
  stop(graceMs: number): Promise<boolean>;
}

/**
 * Connects a contract and its handlers to the contract's queue. Knows no environment, no signal and no process.
 *
 * @throws WorkerOptionsError when the worker's times do not fit together
 */
export function startWorker<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(
  contract: QueueContract<Name, Data, Result>,
  handlers: JobHandlers<Data, Result>,
  settings: WorkerSettings,
): RunningWorker {
  const { connection, prefix, concurrency, log } = settings;
  const { rateLimit } = contract.settings;
  checkWorkerOptions(contract, {
    lockDurationMs: settings.lockDurationMs ?? defaultWorkerOptions.lockDuration,
    stalledIntervalMs: settings.stalledIntervalMs ?? defaultWorkerOptions.stalledInterval,
    // Whoever stops the worker says how long that may take.
    shutdownGraceMs: Number.POSITIVE_INFINITY,
  });
  const actions = actionsWithoutHandler(contract, handlers);
  if (actions.length > 0) log.warn({ code: "handler_missing", actions }, "jobs of actions without a handler fail");
  const attempts = createRunningAttempts();
  const clock: RedisClock = createWorkerClock(() => worker.getBackend().client, log);
  const worker = new ScreenedWorker(
    contract.name,
    // Two parameters: for a third BullMQ would make an AbortController per job, beside the host's own way to end one.
    async (job, token) => {
      if (isUnreadable(job)) return quarantine(worker, settings, job, token);
      const jobId = job.id ?? "";
      const attempt = attempts.begin(jobId, job.name);
      try {
        // Without a reason nothing is awaited here: until the handler itself waits, BullMQ does not send its next fetch.
        if (cancellations.heardEarly(jobId) && (await cancellations.isCalledOff(jobId))) attempt.abort("cancelled");
        const started = toStartedJob(job, jobId, worker.takeReplay(jobId), writeNote);
        const outcome = await processJob(host, started, attempt);
        // BullMQ records what is returned. Any other outcome takes more than that.
        return outcome.outcome === "completed" ? outcome.result : await settleJob(worker, job, token, outcome);
      } finally {
        attempts.end(jobId, attempt);
      }
    },
    {
      ...defaultWorkerOptions,
      ...(settings.lockDurationMs !== undefined && { lockDuration: settings.lockDurationMs }),
      ...(settings.stalledIntervalMs !== undefined && { stalledInterval: settings.stalledIntervalMs }),
      ...(rateLimit && { limiter: { max: rateLimit.max, duration: rateLimit.durationMs } }),
      connection,
      prefix,
      concurrency,
      // It begins below, once Redis has been looked at.
      autorun: false,
    },
    clock,
  );
  const host: JobHost<Name, Data, Result> = {
    contract,
    handlers,
    log,
    effects: createRedisEffectStore(worker.getBackend().client, prefix),
    workspaces: settings.workspaces,
    enqueue: settings.enqueue ?? enqueue,
    observers: settings.observers,
    tracing: settings.tracing,
    now: clock.now,
  };
  const writeNote = createNoteWriter(worker, prefix);
  const clients = watchClients(worker, log);
  reportEngine(worker, clients, log, settings.observers);
  const locks = watchLocks(worker, attempts, settings.lockDurationMs ?? defaultWorkerOptions.lockDuration);
  const redisAnswers = async () => clients.areReady() && (await answers(worker));
  const watchedLoop = {
    turns: () => worker.fetchTurns,
    // Not begun, at its end, or every place taken: an attempt has its deadline, so that this is no excuse for ever.
    // With a rate limit BullMQ's loop waits for a job that runs before it looks whether the limit is open again.
    mayStand: () => attempts.size >= (rateLimit ? 1 : concurrency) || !hasBegun || worker.closing !== undefined,
    redisAnswers,
  };
  const loop = watchFetchLoop(watchedLoop, settings.lookEveryMs);
  const cancellations = watchCancellations(worker, attempts, connection, { prefix, queue: contract.name, log });
  let hasBegun = false;
  const begun = begin(worker, clock, contract, settings).then(() => {
    hasBegun = true;
  });
  // Told to whoever waits for readiness.
  begun.catch(() => {});
  // A job that was handed back can wake this worker before its connection is down: it goes back as well.
  const interrupt = () => attempts.abortAll("interrupted");
  return {
    isReady: () => clients.areReady() && worker.isRunning() && !worker.closing,
    redisAnswers,
    isWedged: loop.isWedged,
    untilReady: async () => {
      // First, because it says best why a Redis was refused.
      await begun;
      await Promise.all([worker.waitUntilReady(), cancellations.ready]);
    },
    clockSkewMs: clock.skewMs,
    jobs: attempts.list,
    stop: async (graceMs) => {
      const isDrained = await stopWorker(worker, { areReady: clients.areReady, graceMs, interrupt });
      cancellations.close();
      locks.close();
      loop.close();
      return isDrained;
    },
  };
}

async function begin(
  worker: ScreenedWorker,
  clock: RedisClock,
  contract: QueueContract,
  { prepare }: WorkerSettings,
): Promise<void> {
  const client = await worker.getBackend().client.catch(explainRefusal);
  client.on("ready", clock.measureAnew);
  await clock.settled();
  await prepare?.(client);
  await waitOutRefusals(worker, () => declareQueueLimits(worker, contract.settings));
  // Both connections: an error of the first job must not look like an outage because the second one is not there yet.
  await worker.waitUntilReady();
  worker.run().catch((error: Error) => worker.emit("error", error));
}
