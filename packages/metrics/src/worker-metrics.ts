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

const waitBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60];

/**
 * What a worker process tells of itself beside its jobs: `worker_ready`, `jobs_stalled_total`, `lock_wait_seconds`.
 *
 * @param isReady whether it takes jobs now
 */
export function createWorkerMetrics(
  registry: Registry,
  { name: queue }: QueueContract,
  isReady: () => boolean,
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
