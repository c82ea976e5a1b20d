import type { Logger } from "@millrace/logger";
import type { SettledStart } from "./job-observer.ts";
import type { JobOutcome } from "./job-outcome.ts";

const severity = {
  completed: "info",
  skipped: "info",
  failed: "error",
  retry: "warn",
  lost: "warn",
  deferred: "info",
  cancelled: "info",
  handed_back: "info",
} as const satisfies Record<JobOutcome["outcome"], string>;

/** The one line that each start of a job leaves behind. */
export function reportOutcome(log: Logger, start: SettledStart, outcome: JobOutcome): void {
  const level = severity[outcome.outcome];
  if (!log.isLevelEnabled(level)) return;
  const { queue, action, jobId, attempt, durationMs } = start;
  const ended = { queue, action, jobId, attempt, outcome: outcome.outcome, durationMs: Math.round(durationMs ?? 0) };
  log[level](fieldsOf(outcome, ended), `job ${outcome.outcome.replace("_", " ")}`);
}

function fieldsOf(outcome: JobOutcome, ended: object): object {
  switch (outcome.outcome) {
    case "completed":
      return ended;
    case "skipped":
      return { ...ended, code: outcome.code };
    case "deferred":
      return { ...ended, delayMs: outcome.delayMs, code: outcome.failure.code, err: outcome.failure.error };
    case "retry":
      return {
        ...ended,
        code: outcome.failure.code,
        err: outcome.failure.error,
        ...(outcome.leastDelayMs !== undefined && { leastDelayMs: outcome.leastDelayMs }),
      };
    default:
      return { ...ended, code: outcome.failure.code, err: outcome.failure.error };
  }
}
