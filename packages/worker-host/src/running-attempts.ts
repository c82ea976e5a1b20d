import { type AbortCause, type AbortedError, abortedBy } from "./abort-reason.ts";
import type { AbortListener, AbortSource } from "./run-with-deadline.ts";

/** Its deadline is the attempt's own. */
type EndCause = Exclude<AbortCause, "timeout">;

/** A job that runs at this moment. */
export interface RunningJob {
  readonly jobId: string;
  readonly action: string;
  readonly sinceMs: number;
}

/** The attempts that a worker runs at this moment, so that whoever must can end them. */
export interface RunningAttempts {
  readonly size: number;
  begin(jobId: string, action: string): AttemptAbort;
  end(jobId: string, attempt: AttemptAbort): void;
  /** @returns whether it runs here */
  abort(jobId: string, cause: EndCause): boolean;
  jobIds(): readonly string[];
  /** What runs, and since when in milliseconds since 1970. */
  list(): readonly RunningJob[];
  /** Notes that the worker holds these jobs' locks at this moment of the monotonic clock. */
  confirm(jobIds: readonly string[], atMs: number): void;
  /** The jobs whose lock was taken and last confirmed before that moment. */
  unconfirmedSince(atMs: number): readonly string[];
  /** Ends all, and each that begins from now on. */
  abortAll(cause: EndCause): void;
}

export function createRunningAttempts(): RunningAttempts {
  const running = new Map<string, AttemptAbort>();
  let forAll: EndCause | undefined;
  return {
    get size() {
      return running.size;
    },
    begin: (jobId, action) => {
      const attempt = new AttemptAbort(action);
      // Fetched a second time, it was not this worker's any more in between.
      running.get(jobId)?.abort("lockLost");
      running.set(jobId, attempt);
      if (forAll) attempt.abort(forAll);
      return attempt;
    },
    end: (jobId, attempt) => {
      // After a lost lock the same worker may have the job a second time.
      if (running.get(jobId) === attempt) running.delete(jobId);
    },
    abort: (jobId, cause) => {
      const attempt = running.get(jobId);
      attempt?.abort(cause);
      return attempt !== undefined;
    },
    jobIds: () => [...running.keys()],
    list: () => [...running].map(([jobId, { action, sinceMs }]) => ({ jobId, action, sinceMs })),
    confirm: (jobIds, atMs) => {
      for (const jobId of jobIds) {
        const attempt = running.get(jobId);
        if (attempt) attempt.lockConfirmedAtMs = atMs;
      }
    },
    unconfirmedSince: (atMs) =>
      [...running].filter(([, { lockConfirmedAtMs }]) => lockConfirmedAtMs < atMs).map(([jobId]) => jobId),
    abortAll: (cause) => {
      forAll = cause;
      for (const attempt of running.values()) attempt.abort(cause);
    },
  };
}

/** As an AbortController with its signal, for one listener: an EventTarget per job would cost more than a short job itself. */
export class AttemptAbort implements AbortSource {
  /** When the job's lock was last known to be this worker's, on the monotonic clock. */
  lockConfirmedAtMs: number = performance.now();
  readonly action: string;
  readonly sinceMs: number = Date.now();
  #reason: AbortedError | undefined;
  #listener: AbortListener | undefined;

  constructor(action: string) {
    this.action = action;
  }

  get reason(): AbortedError | undefined {
    return this.#reason;
  }

  abort(cause: EndCause): void {
    if (this.#reason) return;
    this.#reason = abortedBy(cause);
    this.#listener?.handleEvent();
  }

  addEventListener(_type: "abort", listener: AbortListener): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }
}
