/**
 * What a failure means for the job.
 *
 * - `permanent`: trying again cannot help; dead at once.
 * - `transient`: tried again while attempts are left.
 * - `rate_limited`, `contention`: not its fault; deferred without using up an attempt, within limits of starts and age.
 * - `ambiguous`: the effect may have happened; dead, for a person to look at, unless the action is idempotent.
 * - `cancelled`: somebody called it off.
 */
export type FailureKind = "permanent" | "transient" | "rate_limited" | "contention" | "ambiguous" | "cancelled";

interface JobErrorOptions {
  /** What programs and dashboards group by: lower case words joined by `_`. Defaults to the kind. */
  readonly code?: string;
  readonly cause?: unknown;
}

interface DeferralOptions extends JobErrorOptions {
  /** When to try again, in milliseconds from now, an hour at most. Defaults to a wait that grows with each start, up to a quarter of an hour. */
  readonly retryAfterMs?: number;
}

interface TransientOptions extends JobErrorOptions {
  /** The least wait before the next attempt, in milliseconds, an hour at most. Defaults to 0: the job's own wait holds. */
  readonly retryAfterMs?: number;
}

/** An error that says what it means for the job. Recognised by its fields, not by class: an application may hold two copies of this package. */
class JobError extends Error {
  readonly failureKind: FailureKind;
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(
    failureKind: FailureKind,
    message: string,
    { code = failureKind, cause, retryAfterMs }: DeferralOptions | TransientOptions = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.failureKind = failureKind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Trying again cannot help: the address does not exist, the request was refused. */
export class PermanentError extends JobError {
  override readonly name = "PermanentError";
  constructor(message: string, options?: JobErrorOptions) {
    super("permanent", message, options);
  }
}

/**
 * Trying again may help. Any other error counts as this one; throw it to give the failure a code of its own, or when the other side has said
 * how long to leave it alone (Retry-After): however long it says so, the job ends with its attempts.
 */
export class TransientError extends JobError {
  override readonly name = "TransientError";
  constructor(message: string, options?: TransientOptions) {
    super("transient", message, options);
  }
}

/** A limit of our own is reached, or the other side's that is shared with other jobs: it is not this job's attempt. */
export class RateLimitedError extends JobError {
  override readonly name = "RateLimitedError";
  constructor(message: string, options?: DeferralOptions) {
    super("rate_limited", message, options);
  }
}

/** Another job holds what this one needs, such as a lock. */
export class ContentionError extends JobError {
  override readonly name = "ContentionError";
  constructor(message: string, options?: DeferralOptions) {
    super("contention", message, options);
  }
}

/** Nobody can tell whether the effect happened: the connection broke between the request and its answer. */
export class AmbiguousError extends JobError {
  override readonly name = "AmbiguousError";
  constructor(message: string, options?: JobErrorOptions) {
    super("ambiguous", message, options);
  }
}

/**
 * There is nothing to do, and that is no failure: the recipient wants no mail, the row is gone. The job is acknowledged as `skipped`. No
 * failure kind: nothing is decided about it.
 */
export class SkippedError extends Error {
  override readonly name = "SkippedError";
  readonly code: string;
  /** Tells it apart by a field, as the others are by their kind. */
  readonly isSkip = true;

  /** @param options.code what programs and dashboards group by: lower case words joined by `_` */
  constructor(message: string, { code, cause }: { readonly code: string; readonly cause?: unknown }) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}
