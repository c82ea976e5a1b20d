import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Logger } from "@millrace/logger";
import type { RedisConnectionOptions } from "@millrace/redis";
import { settlesWithin } from "@millrace/shutdown";
import { type QueueName, type WorkerRecord, workerRecordTimes } from "@millrace/worker-config/contracts";
import { Redis } from "ioredis";
import { announceWorker, dismissWorker } from "./announce-worker.ts";
import type { CountedOutcomes, OutcomeCount } from "./count-outcomes.ts";
import { keepStatistics } from "./keep-statistics.ts";
import type { RunningJob } from "./running-attempts.ts";

/** What operators are told of a worker. */
export interface ReportedWorker {
  readonly queue: QueueName;
  readonly concurrency: number;
  readonly version: string;
  readonly outcomes: OutcomeCount;
  jobs(): readonly RunningJob[];
}

const statisticsEveryMs = 1_000;
const jobsShown = 200;
const closeWithinMs = 1_000;

/**
 * Keeps operators informed for as long as a worker lives: what became of its jobs, once a second, and that it is there, every five
 * seconds. Neither costs a command per job. On a connection of its own, so that the last second is told when the worker's own is closed.
 *
 * A process that is killed loses up to two seconds of statistics, and no job. Where Redis refuses the statistics, that is said once.
 *
 * @returns tells the rest, takes the record back and closes the connection, within a second
 */
export function reportWorker(
  worker: ReportedWorker,
  { connection, prefix, log }: { connection: RedisConnectionOptions; prefix: string; log: Logger },
): { close(): Promise<void> } {
  const { queue, concurrency, version, outcomes } = worker;
  const redis = new Redis(connection);
  // The worker's connection tells of an outage.
  redis.on("error", () => {});
  const identity = { id: randomUUID(), queue, concurrency, version, host: hostname(), pid: process.pid };
  const startedAt = new Date().toISOString();

  const statistics = onceAtATime(async () => {
    const counted = outcomes.take(false);
    if (counted) await keep(counted);
  }, log);
  const presence = onceAtATime(() => announceWorker(redis, prefix, describe()), log);
  const keep = (counted: CountedOutcomes) => keepStatistics(redis, prefix, queue, counted);

  function describe(): WorkerRecord {
    const running = worker.jobs();
    const jobs = running.slice(0, jobsShown).map(({ jobId, action, sinceMs }) => ({
      jobId,
      action,
      since: new Date(sinceMs).toISOString(),
    }));
    return { ...identity, startedAt, jobCount: running.length, jobs };
  }

  presence();
  const timers = [setInterval(statistics, statisticsEveryMs), setInterval(presence, workerRecordTimes.everyMs)];
  // The jobs keep the process alive, not the reports of them.
  for (const timer of timers) timer.unref();
  return {
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      const counted = outcomes.take(true);
      const told = Promise.all([counted && keep(counted), dismissWorker(redis, prefix, identity.id)]);
      await settlesWithin(told, closeWithinMs).catch(() => {});
      redis.disconnect();
    },
  };
}

/** While a report waits for Redis there is no other one. */
function onceAtATime(report: () => Promise<void>, log: Logger): () => void {
  let isOnItsWay = false;
  let isRefused = false;
  return () => {
    if (isOnItsWay) return;
    isOnItsWay = true;
    report()
      .then(
        () => {
          isRefused = false;
        },
        (err: Error) => {
          // Any other end is that of the connection.
          if (isRefused || err.name !== "ReplyError") return;
          isRefused = true;
          log.warn({ code: "worker_not_reported", err }, "Redis refuses what the worker reports of itself");
        },
      )
      .finally(() => {
        isOnItsWay = false;
      });
  };
}
