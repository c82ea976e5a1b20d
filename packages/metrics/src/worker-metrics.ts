import type { QueueContract } from "@millrace/worker-config/contracts";
import { Counter, Gauge, type Registry } from "prom-client";
import { createHistogram } from "./histogram.ts";

/** How long something that wants a lock or a place waited for it. */
export interface LockWait {
  readonly kind: "lock" | "semaphore";
  readonly outcome: "acquired" | "contended";
  readonly waitedMs: number;
}

export interface WorkerMetrics {
  /** A job was found whose worker had fallen silent. */
  stalled(): void;
  lockWaited(wait: LockWait): void;
}

/** What a worker process says of itself when it is asked. */
export interface WorkerState {
  /** Whether it takes jobs now. */
  isReady(): boolean;
  /** How far its machine's clock is ahead of Redis', in milliseconds. Undefined while that is not known: the metric is left out then. */
  clockSkewMs(): number | undefined;
}

const waitBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60];

/**
 * What a worker process tells of itself beside its jobs: `worker_ready`, `redis_clock_skew_seconds`, `jobs_stalled_total`,
 * `lock_wait_seconds`.
 */
export function createWorkerMetrics(
  registry: Registry,
  { name: queue }: QueueContract,
  { isReady, clockSkewMs }: WorkerState,
): WorkerMetrics {
  new Gauge({
    name: "worker_ready",
    help: "1 while this process takes jobs of the queue.",
    labelNames: ["queue"],
    registers: [registry],
    collect() {
      this.set({ queue }, isReady() ? 1 : 0);
    },
  });
  new Gauge({
    name: "redis_clock_skew_seconds",
    help: "How far the clock of this process's machine is ahead of Redis'; below 0 it is behind.",
    labelNames: ["queue"],
    registers: [registry],
    collect() {
      const skewMs = clockSkewMs();
      this.reset();
      if (skewMs !== undefined) this.set({ queue }, skewMs / 1_000);
    },
  });
  const stalled = new Counter({
    name: "jobs_stalled_total",
    help: "Jobs found by this process whose worker had died or lost their lock; they start again.",
    labelNames: ["queue"],
    registers: [registry],
  });
  // There from the beginning, so that the first one is a rise.
  stalled.inc({ queue }, 0);
  const waits = createHistogram(registry, {
    name: "lock_wait_seconds",
    help: "How long this process waited for locks and semaphores over all processes, acquired or not.",
    buckets: waitBuckets,
  });
  const seriesOf = (kind: LockWait["kind"]) => ({
    acquired: waits.series({ kind, outcome: "acquired" }),
    contended: waits.series({ kind, outcome: "contended" }),
  });
  const series = { lock: seriesOf("lock"), semaphore: seriesOf("semaphore") };
  return {
    stalled: () => stalled.inc({ queue }),
    lockWaited: ({ kind, outcome, waitedMs }) => series[kind][outcome].observe(waitedMs / 1_000),
  };
}
