import { explainListenError } from "@millrace/env";
import { createPartsCheck } from "@millrace/health";
import { getChildLogger } from "@millrace/logger";
import { createJobMetrics, createRegistry, createWorkerMetrics, type Registry } from "@millrace/metrics";
import { onLockWait, redisAddress } from "@millrace/redis";
import { closeServices, onShutdownSignal } from "@millrace/shutdown";
import { startTracing } from "@millrace/tracing";
import { closeQueues, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import type { DataSchemas, QueueContract, ResultSchemas } from "@millrace/worker-config/contracts";
import { watchWorkspaces } from "@millrace/workspaces";
import { checkRedis } from "./check-redis.ts";
import { createOutcomeCount } from "./count-outcomes.ts";
import { readConcurrency } from "./env.ts";
import { startHealthServer } from "./health-server.ts";
import type { JobHandlers } from "./job-handlers.ts";
import { reportWorker } from "./report-worker.ts";
import { type RunningWorker, startWorker } from "./start-worker.ts";
import { readWorkerEnv } from "./worker-env.ts";
import type { WorkerService } from "./worker-service.ts";

/**
 * A worker process's whole life: reads the environment, takes jobs, answers health probes, and on SIGTERM or SIGINT stops in order:
 * no new job, the running ones to their end, then the services and clients, then exit 0, or 1 where one of these could not be closed. A second
 * signal exits at once.
 *
 * @param services what the handlers use besides Redis, by the name that `/readyz` shows
 * @param options.concurrency how many jobs run at once, where a domain has a default or limits of its own. Defaults to its variable, or 10
 * @param options.metrics registers what `/metrics` is to tell beside the host's own
 * @throws EnvironmentError when a variable is missing or wrong
 * @throws WorkerOptionsError when the worker's times do not fit together
 * @throws StartError when the health server cannot listen
 * @throws UnsafeRedisError in production, when Redis may evict jobs
 * @throws what a service's `start` rejects with
 */
export async function runWorker<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(
  contract: QueueContract<Name, Data, Result>,
  handlers: JobHandlers<Data, Result>,
  services: Record<string, WorkerService> = {},
  options: { readonly concurrency?: number; readonly metrics?: (registry: Registry) => void } = {},
): Promise<void> {
  const log = getChildLogger(`worker:${contract.name}`);
  const env = readWorkerEnv(contract);
  const concurrency = options.concurrency ?? readConcurrency(contract.name);
  const connection = getRedisConnection("worker");
  const prefix = readQueueEnv().QUEUE_PREFIX;
  const onOutage = (err: Error) =>
    log.warn({ code: "workspaces_unreachable", err }, "cannot ask who is blocked, trying again");
  const workspaces = watchWorkspaces({ connection, prefix, onOutage });
  const tracing = await startTracing(`millrace-worker-${contract.name}`, log);
  const registry = createRegistry();
  const metrics = createWorkerMetrics(registry, contract, {
    isReady: () => worker.isReady(),
    clockSkewMs: () => worker.clockSkewMs(),
  });
  onLockWait(metrics.lockWaited);
  options.metrics?.(registry);
  const outcomes = createOutcomeCount();
  const worker = startWorker(contract, handlers, {
    connection,
    prefix,
    concurrency,
    workspaces,
    log,
    tracing,
    observers: [outcomes, { ...createJobMetrics(registry, contract), stalled: metrics.stalled }],
    lockDurationMs: env.WORKER_LOCK_DURATION_MS,
    stalledIntervalMs: env.WORKER_STALLED_INTERVAL_MS,
    prepare: async (client) => {
      await checkRedis(client, env.NODE_ENV === "production", log);
      for (const service of Object.values(services)) await service.start?.();
    },
  });
  const reported = { queue: contract.name, concurrency, version: env.WORKER_VERSION, outcomes, jobs: worker.jobs };
  const report = reportWorker(reported, { connection, prefix, log });
  let isDraining = false;
  const { WORKER_HEALTH_HOST: host, WORKER_HEALTH_PORT: port } = env;
  const listening = startHealthServer(host, port, {
    isWedged: worker.isWedged,
    isDraining: () => isDraining,
    checkParts: createPartsCheck(partsOf(worker, services)),
    metrics: registry,
  }).catch((error: unknown) => explainListenError(error, "WORKER_HEALTH_PORT", host, port));
  const health = { close: async () => (await listening).close() };
  onShutdownSignal(log, async () => {
    isDraining = true;
    const isDrained = await worker.stop(env.WORKER_SHUTDOWN_GRACE_MS);
    if (!isDrained) log.warn("jobs were still running at the deadline; another worker takes them up");
    workspaces.close();
    await report.close();
    await closeServices(services, log).finally(() =>
      closeServices({ queues: { close: closeQueues }, ...(tracing && { tracing }), health }, log),
    );
  });
  const { url } = await listening;
  const addresses = { health: `${url}/readyz`, metrics: `${url}/metrics` };
  log.info({ redis: redisAddress(connection), concurrency, ...addresses }, "worker started");
  try {
    await worker.untilReady();
    log.info("worker ready");
  } catch (error) {
    // A worker that is told to end before Redis was ever there ends in order: what it waited for does not come any more.
    if (!isDraining) throw error;
  }
}

/** What a worker needs to do its work, each by the name that `/readyz` shows. */
function partsOf(
  worker: RunningWorker,
  services: Record<string, WorkerService>,
): Record<string, () => Promise<unknown>> {
  const refuse = (what: string) => {
    throw new Error(`${what}.`);
  };
  return {
    redis: async () => (await worker.redisAnswers()) || refuse("Redis does not answer"),
    worker: async () => worker.isReady() || refuse("no job is taken"),
    ...Object.fromEntries(Object.entries(services).map(([name, service]) => [name, () => service.check()])),
  };
}
