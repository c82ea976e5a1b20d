import { bucketCount, bucketOf } from "@millrace/worker-config/contracts";
import type { JobObserver, SettledStart } from "./job-observer.ts";

/** What has been counted since the last look, as the script that keeps it takes it. */
export interface CountedOutcomes {
  /** Starts by their outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Jobs that came to their end. */
  readonly ended: number;
  /** Fields of the hour's hash: buckets and sums. */
  readonly times: Readonly<Record<string, number>>;
  /** Jobs that wait for a further attempt, and jobs that no longer do. */
  readonly retrying: readonly string[];
  readonly retried: readonly string[];
  /** Jobs that should have ended so in the meantime. */
  readonly skipped: readonly string[];
  readonly cancelled: readonly string[];
}

export interface OutcomeCount extends JobObserver {
  /**
   * Hands over what was counted, and begins anew. Nothing where there is nothing to keep.
   *
   * @param isLast there is no later look, so that jobs are handed over that may not have ended in Redis yet
   */
  take(isLast: boolean): CountedOutcomes | undefined;
}

// Per look and kind. Beyond it jobs are counted, and not marked.
const mostIds = 10_000;

const isEnd: ReadonlySet<string> = new Set<SettledStart["outcome"]>(["completed", "skipped", "failed", "cancelled"]);

/** Counts in memory what becomes of jobs: a few additions per job, and no command. */
export function createOutcomeCount(): OutcomeCount {
  let outcomes: Record<string, number> = {};
  let ended = 0;
  const waits = createHistogram();
  const runs = createHistogram();
  let isRetrying = new Map<string, boolean>();
  // A job has ended in Redis a moment after its start has ended here: these are handed over one look later.
  let fresh = { skipped: [] as string[], cancelled: [] as string[] };
  let due = { skipped: [] as string[], cancelled: [] as string[] };

  return {
    settled: ({ outcome, jobId, attempt, waitMs, durationMs }) => {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (waitMs !== null) waits.add(waitMs);
      if (durationMs !== null) runs.add(durationMs);
      if (outcome === "retry") {
        if (isRetrying.size < mostIds) isRetrying.set(jobId, true);
      } else if (isEnd.has(outcome)) {
        ended += 1;
        if (attempt > 1 && isRetrying.size < mostIds) isRetrying.set(jobId, false);
        if (outcome === "skipped" || outcome === "cancelled") {
          if (fresh[outcome].length < mostIds) fresh[outcome].push(jobId);
        }
      }
    },
    take: (isLast) => {
      const marks = [...isRetrying];
      const counted: CountedOutcomes = {
        outcomes,
        ended,
        times: { ...waits.take("wait"), ...runs.take("run") },
        retrying: marks.filter(([, retries]) => retries).map(([jobId]) => jobId),
        retried: marks.filter(([, retries]) => !retries).map(([jobId]) => jobId),
        skipped: isLast ? [...due.skipped, ...fresh.skipped] : due.skipped,
        cancelled: isLast ? [...due.cancelled, ...fresh.cancelled] : due.cancelled,
      };
      const isEmpty = Object.keys(outcomes).length + counted.skipped.length + counted.cancelled.length === 0;
      outcomes = {};
      ended = 0;
      isRetrying = new Map();
      due = fresh;
      fresh = { skipped: [], cancelled: [] };
      return isEmpty ? undefined : counted;
    },
  };
}

function createHistogram(): { add(durationMs: number): void; take(name: string): Record<string, number> } {
  const counts = new Uint32Array(bucketCount);
  let sum = 0;
  return {
    add: (durationMs) => {
      const bucket = bucketOf(durationMs);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      sum += durationMs;
    },
    take: (name) => {
      const fields: Record<string, number> = {};
      for (const [bucket, count] of counts.entries()) if (count > 0) fields[`${name}:${bucket}`] = count;
      if (sum > 0) fields[`${name}:sum`] = Math.round(sum);
      counts.fill(0);
      sum = 0;
      return fields;
    },
  };
}
