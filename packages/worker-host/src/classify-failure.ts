import type { JobFailure, JobSkip } from "@millrace/worker-config/contracts";
import { isAborted } from "./abort-reason.ts";
import type { FailureKind } from "./job-error.ts";
import { toReadableError } from "./readable-error.ts";

/** A failure that has been understood: what it means, under which code, and the error for the log. */
export interface ClassifiedFailure extends JobFailure {
  readonly kind: FailureKind | "interrupted" | "lock_lost";
  /** When to try again, where the error knows. */
  readonly retryAfterMs?: number;
  readonly error: Error;
}

const maxCauses = 10;
const codePattern = /^[a-z][a-z0-9_]{0,63}$/;
const kinds: ReadonlySet<unknown> = new Set<FailureKind>([
  "permanent",
  "transient",
  "rate_limited",
  "contention",
  "ambiguous",
  "cancelled",
]);
const kindOfAbort = {
  timeout: { kind: "transient", code: "timeout" },
  cancelled: { kind: "cancelled", code: "cancelled" },
  interrupted: { kind: "interrupted", code: "interrupted" },
  lockLost: { kind: "lock_lost", code: "lock_lost" },
} as const;

/**
 * Understands whatever ended an attempt: null, a string, a frozen object, an error of a second copy of a package, a cause some levels
 * down. The outermost error that says its kind decides; where none does, the failure is transient.
 */
export function classifyFailure(thrown: unknown): ClassifiedFailure {
  const error = toReadableError(thrown);
  const { message } = error;
  if (isAborted(error)) return { ...kindOfAbort[error.abortCause], message, error };
  for (const link of causesOf(error)) {
    const kind = kindOf(link);
    if (kind) return { kind, code: codeFor(kind, link), message, error, ...retryAfterOf(link) };
  }
  return { kind: "transient", code: "handler_error", message, error };
}

/** What a handler threw to say that there is nothing to do; nothing for a failure. An attempt that was ended from outside has none. */
export function skipOf(thrown: unknown): JobSkip | undefined {
  if (!Error.isError(thrown) || isAborted(thrown)) return undefined;
  const error = toReadableError(thrown);
  const isSkip = "isSkip" in error && error.isSkip === true;
  return isSkip ? { code: codeOf(error) ?? "skipped", message: error.message } : undefined;
}

/** What was thrown and what it names as its cause, ten at most: those of them that are errors. */
export function* causesOf(thrown: unknown): Generator<Error> {
  let link = thrown;
  for (let depth = 0; depth < maxCauses && Error.isError(link); depth++) {
    yield link;
    link = link.cause;
  }
}

function kindOf(error: Error): FailureKind | undefined {
  // The set holds exactly the kinds.
  if ("failureKind" in error && kinds.has(error.failureKind)) return error.failureKind as FailureKind;
  return error.name === "UnrecoverableError" ? "permanent" : undefined;
}

/** A stored failure is known as a cancellation by its code alone, so that one has no other. */
function codeFor(kind: FailureKind, error: Error): string {
  return kind === "cancelled" ? kind : (codeOf(error) ?? kind);
}

/** What the host says of a job that never came to its handler's end: no handler can say it. */
const hostsOwn: ReadonlySet<string> = new Set([
  "cancelled",
  "poison",
  "corrupt",
  "evicted",
  "quarantined",
  "child_failed",
]);

function codeOf(error: Error): string | undefined {
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && codePattern.test(code) && !hostsOwn.has(code) ? code : undefined;
}

function retryAfterOf(error: Error): { retryAfterMs?: number } {
  const isGiven =
    "retryAfterMs" in error && typeof error.retryAfterMs === "number" && Number.isFinite(error.retryAfterMs);
  return isGiven ? { retryAfterMs: Number(error.retryAfterMs) } : {};
}
