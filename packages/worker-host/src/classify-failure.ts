import type { JobFailure } from "@millrace/worker-config/contracts";
import type { FailureKind } from "./job-error.ts";

/** A failure that has been understood: what happens next, under which code, and the error for the log. */
export interface ClassifiedFailure extends JobFailure {
  readonly kind: FailureKind;
  readonly error: Error;
}

const maxCauses = 10;
const codePattern = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Understands whatever a handler threw: null, a string, a frozen object, an error of a second copy of a package, a cause some levels
 * down. The outermost error that says its kind decides; where none does, the failure is transient.
 */
export function classifyFailure(thrown: unknown): ClassifiedFailure {
  const error = toError(thrown);
  for (const link of causesOf(error)) {
    const kind = kindOf(link);
    if (kind) return { kind, code: codeOf(link) ?? kind, message: error.message, error };
  }
  return { kind: "transient", code: "handler_error", message: error.message, error };
}

function toError(thrown: unknown): Error {
  if (Error.isError(thrown)) return thrown;
  const text = typeof thrown === "string" ? thrown : `a handler threw ${thrown === null ? "null" : typeof thrown}`;
  return new Error(text, { cause: thrown });
}

function* causesOf(error: Error): Generator<Error> {
  let link: unknown = error;
  for (let depth = 0; depth < maxCauses && Error.isError(link); depth++) {
    yield link;
    link = link.cause;
  }
}

function kindOf(error: Error): FailureKind | undefined {
  if ("failureKind" in error && (error.failureKind === "permanent" || error.failureKind === "transient")) {
    return error.failureKind;
  }
  return error.name === "UnrecoverableError" ? "permanent" : undefined;
}

function codeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" && codePattern.test(error.code) ? error.code : undefined;
}
