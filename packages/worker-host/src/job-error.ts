/** What the host does with a failure. `permanent`: dead at once. `transient`: tried again while attempts are left. */
export type FailureKind = "permanent" | "transient";

interface JobErrorOptions {
  /** What programs and dashboards group by: lower case words joined by `_`. */
  code: string;
  cause?: unknown;
}

/** Thrown by a handler when trying again cannot help: the address does not exist, the request was refused. */
export class PermanentError extends Error {
  override readonly name = "PermanentError";
  // Recognised by these two, not by class: an application may hold a second copy of this package.
  readonly failureKind: FailureKind = "permanent";
  readonly code: string;

  constructor(message: string, { code, cause }: JobErrorOptions) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}

/** Thrown by a handler when trying again may help, to give the failure a code of its own. Any other error counts as transient. */
export class TransientError extends Error {
  override readonly name = "TransientError";
  readonly failureKind: FailureKind = "transient";
  readonly code: string;

  constructor(message: string, { code, cause }: JobErrorOptions) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}
