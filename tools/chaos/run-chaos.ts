import { setTimeout as wait } from "node:timers/promises";
import type { DevRedisOptions } from "@millrace/dev-services";
import { chaosContract } from "./contract.ts";
import { type Fleet, graceMs, startFleet } from "./fleet.ts";
import { type MortalRedis, startMortalRedis } from "./mortal-redis.ts";
import { planFaults, type RedisFault, type WorkerFault } from "./plan-faults.ts";
import { planJobs } from "./plan-jobs.ts";
import { startProducer } from "./producer.ts";
import { startProvider } from "./provider.ts";
import type { Report } from "./report.ts";
import { countJobs, takeSnapshot } from "./snapshot.ts";
import { verify } from "./verify.ts";

export interface ChaosOptions {
  readonly jobs: number;
  /** How long jobs are added and things are killed. Afterwards the jobs have the time that they need, as long as they move. */
  readonly seconds: number;
  readonly seed: number;
  readonly redis: NonNullable<DevRedisOptions["choice"]>;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

const prefix = "{chaos}";
const workers = 3;
const lockDurationMs = 2_000;
/** The longest time without the end of any job. A claim of a job that is poison holds for 25 s, and who waits for it comes back within a minute. */
const stuckAfterSeconds = 90;

/**
 * Runs jobs through real worker processes, a real producer and a Redis, all of which are killed, cut off and restarted meanwhile, and looks
 * at what is left when all jobs have ended.
 *
 * @param signal ends the run early, with its reason; everything that was started is gone when this settles
 * @throws Error when the run could not be carried out: a part ended by itself, or `signal` fired
 */
export async function runChaos(options: ChaosOptions, signal: AbortSignal): Promise<Report> {
  const startedAt = performance.now();
  const { jobs, seconds, seed, say } = options;
  await using cleanUp = new AsyncDisposableStack();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });

  const redis = cleanUp.adopt(await startMortalRedis(options.redis), (started) => started.stop());
  const provider = cleanUp.adopt(await startProvider(), (started) => started.close());
  const env = { ...options.env, ...settings(redis.url) };
  const fleet = cleanUp.adopt(startFleet(workers, provider.url, env), (started) => started.killAll());
  const unlessBroken = <T>(promise: Promise<T>) =>
    Promise.race([promise, redis.crashed, fleet.crashed, aborted.promise]);

  const plan = planJobs(seed, jobs, seconds);
  const faults = planFaults(seed, seconds, workers, redis.canRestart);
  await unlessBroken(atMost(stuckAfterSeconds, fleet.untilReady()));
  const producer = cleanUp.adopt(startProducer({ seed, jobs, seconds }, env), (started) => started.kill());
  say(`${jobs} jobs over ${seconds} s, ${workers} workers, Redis: ${redis.kind}, seed ${seed}.`);
  const from = performance.now();
  await unlessBroken(
    Promise.all([
      atMost(seconds + stuckAfterSeconds, producer.done),
      inTime(faults.workers, from, async (fault) => injectWorkerFault(fleet, fault)),
      inTime(faults.redis, from, (fault) => injectRedisFault(redis, fault)),
    ]),
  );
  say(`All jobs are enqueued, nothing is killed any more. What does not move for ${stuckAfterSeconds} s is stuck.`);
  await unlessBroken(untilDrained(redis, jobs));
  await unlessBroken(fleet.stop());

  const snapshot = await unlessBroken(takeSnapshot(redis.client, prefix, chaosContract.name));
  const { acknowledgements } = producer;
  const verdict = verify({ plan, acknowledgements, snapshot, effects: provider.effects });
  return {
    options,
    plan,
    acknowledgements,
    effects: provider.effects,
    throttled: provider.throttled.size,
    ends: verdict.ends,
    faults: [...verdict.faults, ...fleet.faults],
    fleet: fleet.counts,
    redis: redis.counts,
    canRestartRedis: redis.canRestart,
    stalls: [...snapshot.records.values()].reduce((sum, { stalls }) => sum + stalls, 0),
    seconds: (performance.now() - startedAt) / 1_000,
  };
}

/** The workers' and the producer's environment: recovery within seconds, and a grace that some jobs exceed. */
function settings(redisUrl: string): Record<string, string> {
  return {
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: prefix,
    WORKER_LOCK_DURATION_MS: String(lockDurationMs),
    WORKER_STALLED_INTERVAL_MS: String(lockDurationMs / 2),
    WORKER_SHUTDOWN_GRACE_MS: String(graceMs),
    WORKER_HEALTH_PORT: "0",
    DEFAULT_WORKER_CONCURRENCY: "20",
  };
}

/** Waits no longer: what is not there by then shows in what is left undone. */
async function atMost(seconds: number, promise: Promise<void>): Promise<void> {
  const tooLate = new AbortController();
  try {
    await Promise.race([promise, wait(seconds * 1_000, undefined, { signal: tooLate.signal })]);
  } finally {
    tooLate.abort();
  }
}

async function inTime<Fault extends { readonly atMs: number }>(
  faults: readonly Fault[],
  from: number,
  inject: (fault: Fault) => Promise<void>,
): Promise<void> {
  for (const fault of faults) {
    await wait(Math.max(0, fault.atMs - (performance.now() - from)));
    await inject(fault);
  }
}

function injectWorkerFault(fleet: Fleet, { kind, worker }: WorkerFault): void {
  fleet[kind](worker);
}

async function injectRedisFault(redis: MortalRedis, fault: RedisFault): Promise<void> {
  if (fault.kind === "cut_clients") return redis.cutClients();
  return redis.restart(fault.how, fault.downMs);
}

/** Returns in any case: what has not ended by then is looked at as it is. */
async function untilDrained(redis: MortalRedis, jobs: number): Promise<void> {
  let most = 0;
  let progressAt = performance.now();
  while (performance.now() - progressAt < stuckAfterSeconds * 1_000) {
    const { open, ended } = await countJobs(redis.client, prefix, chaosContract.name);
    if (open === 0 && ended >= jobs) return;
    if (ended > most) progressAt = performance.now();
    most = Math.max(most, ended);
    await wait(200);
  }
}
