import { createLogger, type Logger } from "@millrace/logger";
import { closeQueues, enqueueUnchecked, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import type { DataSchemas, QueueContract, ResultSchemas } from "@millrace/worker-config/contracts";
import { type Job, Queue, QueueEvents } from "bullmq";
import { afterAll, afterEach } from "vitest";
import type { JobHandlers } from "../src/job-handlers.ts";
import { type RunningWorker, startWorker, type WorkerSettings } from "../src/start-worker.ts";

export const silent: Logger = createLogger({ level: "silent" });

/** A queue on the tests' Redis, for one test file: workers are stopped after each test, and connections after the last. */
export function useQueue<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(contract: QueueContract<Name, Data, Result>) {
  const prefix = readQueueEnv().QUEUE_PREFIX;
  const raw = new Queue(contract.name, { connection: getRedisConnection("worker"), prefix });
  const events = new QueueEvents(contract.name, { connection: getRedisConnection("events"), prefix });
  const running: RunningWorker[] = [];

  afterEach(async () => {
    await Promise.all(running.splice(0).map((worker) => worker.stop(0)));
  });
  afterAll(async () => {
    await raw.obliterate({ force: true });
    await Promise.all([closeQueues(), events.close(), raw.close()]);
  });

  async function work(
    handlers: JobHandlers<Data, Result>,
    settings: Partial<WorkerSettings> = {},
    worked: QueueContract<Name, Data, Result> = contract,
  ): Promise<RunningWorker> {
    await events.waitUntilReady();
    const connection = getRedisConnection("worker");
    const worker = startWorker(worked, handlers, { connection, prefix, concurrency: 5, log: silent, ...settings });
    running.push(worker);
    await worker.untilReady();
    return worker;
  }

  async function add(action: keyof Data & string, data: object, options: object = {}): Promise<string> {
    const retry = { retryIntervalsMs: [1], attempts: 2 };
    return (await enqueueUnchecked(contract, action, data, { ...retry, ...options })).jobId;
  }

  async function stored(jobId: string): Promise<Job> {
    const job = await raw.getJob(jobId);
    if (!job) throw new Error(`job ${jobId} is gone`);
    return job;
  }

  /** Waits for a job's end and returns it as it is stored then. */
  async function ended(jobId: string): Promise<Job> {
    await (await stored(jobId)).waitUntilFinished(events, 20_000).catch(() => {});
    return stored(jobId);
  }

  return {
    prefix,
    raw,
    events,
    work,
    add,
    stored,
    ended,
    finished: async (action: keyof Data & string, data: object, options: object = {}) =>
      ended(await add(action, data, options)),
  };
}
