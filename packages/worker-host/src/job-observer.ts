import type { Logger } from "@millrace/logger";
import type { JobOutcome } from "./job-outcome.ts";

/** How one start of a job ended. */
export interface SettledStart {
  readonly queue: string;
  /** As stored: it may be one that the contract does not know. */
  readonly action: string;
  readonly jobId: string;
  readonly outcome: JobOutcome["outcome"];
  /** Null where it completed. */
  readonly code: string | null;
  /** 1 for the first. */
  readonly attempt: number;
  /**
   * From when the job could first run to its first start, in milliseconds; a flow's parent waits for its children as well. Null at every
   * later start, which comes after a wait that the job itself asked for, and where nothing started.
   */
  readonly waitMs: number | null;
  /** How long the start took, in milliseconds. Null where BullMQ ended the job by itself: cancelled while it waited, out of starts. */
  readonly durationMs: number | null;
}

/** Hears of every start that ended, before Redis has recorded it. It is called in the job's own turn, so it only counts. */
export interface JobObserver {
  settled(start: SettledStart): void;
  /** Hears of each job that was found locked by a worker that had fallen silent, and starts again. It must not throw. */
  stalled?(): void;
}

/** Tells all observers. What one of them throws is logged, and nothing to the job. */
export function tellObservers(observers: readonly JobObserver[], start: SettledStart, log: Logger): void {
  for (const observer of observers) {
    try {
      observer.settled(start);
    } catch (err) {
      log.error(
        { code: "observer_failed", queue: start.queue, action: start.action, err },
        "an observer of jobs threw",
      );
    }
  }
}
