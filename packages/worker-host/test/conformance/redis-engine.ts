import { randomUUID } from "node:crypto";
import { cancelJob, findJob, readJob, replayDeadLetter } from "@millrace/job-admin";
import { closeQueues, enqueue, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { afterEach, beforeEach } from "vitest";
import { startWorker } from "../../src/start-worker.ts";
import { silent } from "../use-queue.ts";
import { contract, type Engine, idle } from "./engine.ts";

/** A worker on Redis, with the producers and the functions by which jobs are operated. */
export function useRedisEngine(): Engine {
  const stops: ((graceMs: number) => Promise<unknown>)[] = [];
  const stop = async (graceMs: number) => {
    await Promise.all(stops.splice(0).map((stopOne) => stopOne(graceMs)));
  };

  beforeEach(() => {
    process.env.QUEUE_PREFIX = `{test-${randomUUID()}}`;
  });
  afterEach(async () => {
    await stop(0);
    await closeQueues();
  });

  return {
    name: "Redis",
    start: async (handlers, { contract: worked = contract, ...options } = {}) => {
      const connection = getRedisConnection("worker");
      const settings = { connection, prefix: readQueueEnv().QUEUE_PREFIX, concurrency: 5, log: silent, ...options };
      const worker = startWorker(worked, { ...idle, ...handlers }, settings);
      stops.push(worker.stop);
      await worker.untilReady();
    },
    enqueue,
    findJob: (jobId) => findJob("default", jobId),
    readNotes: async (jobId) => (await readJob("default", jobId))?.logs.lines ?? [],
    cancelJob: async (jobId) => (await cancelJob("default", jobId)).outcome,
    replayDeadLetter: (jobId) => replayDeadLetter("default", jobId),
    stop,
  };
}
