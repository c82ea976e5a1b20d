import type { QueueContract } from "@millrace/worker-config/contracts";
import { Counter, type Registry } from "prom-client";
import { createCodeBound } from "./bounded-codes.ts";
import { createHistogram, type Series } from "./histogram.ts";

/** One start of a job that came to its outcome. */
export interface SettledStart {
  readonly queue: string;
  readonly action: string;
  readonly outcome: string;
  /** Why; null where the outcome has no reason. */
  readonly code: string | null;
  /** 1 for the first. */
  readonly attempt: number;
  /** From when it could run to its start, in milliseconds. Null for a start that follows another one. */
  readonly waitMs: number | null;
  /** In milliseconds. Null where nothing started, as for a job that was cancelled while it waited. */
  readonly durationMs: number | null;
}

export interface JobMetrics {
  settled(start: SettledStart): void;
}

/** Outcomes after which a job does not start again by itself. */
const endings: ReadonlySet<string> = new Set(["completed", "skipped", "failed", "cancelled"]);
// Up to the longest that an action may take, which is a matter of minutes.
const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];
// A queue that is behind by more than an hour is behind, by how much `queue_oldest_waiting_seconds` says.
const waitBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600];
const attemptBuckets = [1, 2, 3, 5, 10, 25, 50, 100];
const unknownAction = "unknown";

interface ActionSeries {
  readonly duration: Series;
  readonly wait: Series;
  readonly attempts: Series;
  readonly counts: Map<string, Map<string, { outcome: string; code: string; value: number }>>;
}

/**
 * What a worker process tells of the jobs of one queue: `jobs_processed_total`, `job_duration_seconds`, `job_wait_seconds`, `job_attempts`.
 *
 * Labels are the queue, the action if the contract declares it, else `unknown`, the outcome and the code, of which there are 52 at most:
 * neither a job's id nor its tenant can become one. A start costs less than a microsecond.
 */
export function createJobMetrics(registry: Registry, contract: QueueContract): JobMetrics {
  const queue = contract.name;
  const boundCode = createCodeBound();
  const actions = new Map<string, ActionSeries>();
  const duration = createHistogram(registry, {
    name: "job_duration_seconds",
    help: "How long a start of a job took, whatever its outcome.",
    buckets: durationBuckets,
  });
  const wait = createHistogram(registry, {
    name: "job_wait_seconds",
    help: "How long a job that could run waited for its first start.",
    buckets: waitBuckets,
  });
  const attempts = createHistogram(registry, {
    name: "job_attempts",
    help: "How many attempts a job had taken when it came to its end.",
    buckets: attemptBuckets,
  });
  new Counter({
    name: "jobs_processed_total",
    help: "Starts of jobs by outcome; code says why, none where there is no reason to give.",
    labelNames: ["queue", "action", "outcome", "code"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [action, { counts }] of actions) {
        for (const byCode of counts.values()) {
          for (const { outcome, code, value } of byCode.values()) this.inc({ queue, action, outcome, code }, value);
        }
      }
    },
  });

  function seriesOf(given: string): ActionSeries {
    const known = actions.get(given);
    if (known) return known;
    const action = Object.hasOwn(contract.actions, given) ? given : unknownAction;
    const labels = { queue, action };
    const series = actions.get(action) ?? {
      duration: duration.series(labels),
      wait: wait.series(labels),
      attempts: attempts.series(labels),
      counts: new Map(),
    };
    actions.set(action, series);
    return series;
  }

  return {
    settled: ({ action, outcome, code, attempt, waitMs, durationMs }) => {
      const series = seriesOf(action);
      count(series, outcome, code === null ? "none" : boundCode(code));
      if (waitMs !== null) series.wait.observe(waitMs / 1_000);
      if (durationMs === null) return;
      series.duration.observe(durationMs / 1_000);
      if (endings.has(outcome)) series.attempts.observe(attempt);
    },
  };
}

function count({ counts }: ActionSeries, outcome: string, code: string): void {
  const byCode = counts.get(outcome) ?? new Map<string, { outcome: string; code: string; value: number }>();
  counts.set(outcome, byCode);
  const known = byCode.get(code);
  if (known) known.value += 1;
  else byCode.set(code, { outcome, code, value: 1 });
}
