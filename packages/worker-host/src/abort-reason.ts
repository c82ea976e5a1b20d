/**
 * Why an attempt's signal aborted. BullMQ carries a string from whoever aborts to the signal; `abortError` makes an Error of it, so that
 * whoever rejects with the signal's reason rejects with an Error.
 */
export const abortReasons = {
  cancelled: "millrace:cancelled",
  interrupted: "millrace:interrupted",
  lockLost: "millrace:lock-lost",
  timeout: "millrace:timeout",
} as const;

export type AbortCause = keyof typeof abortReasons;

/** The attempt was ended from outside its handler. */
export class AbortedError extends Error {
  override readonly name = "AbortedError";
  readonly abortCause: AbortCause;

  constructor(abortCause: AbortCause, message: string) {
    super(message);
    this.abortCause = abortCause;
  }
}

/** Also of what nobody can look at: an error whose prototype is a Proxy that throws. */
export function isAborted(thrown: unknown): thrown is AbortedError {
  try {
    return thrown instanceof AbortedError;
  } catch {
    return false;
  }
}

const messages: Record<Exclude<AbortCause, "timeout">, string> = {
  cancelled: "The job was cancelled.",
  interrupted: "The worker shuts down.",
  lockLost: "The job's lock was lost: another worker may have it.",
};

/** @param reason what BullMQ aborted the signal with; one that is not ours counts as the worker's end */
export function abortError(reason: unknown): AbortedError {
  const cause =
    reason === abortReasons.cancelled ? "cancelled" : reason === abortReasons.lockLost ? "lockLost" : "interrupted";
  return new AbortedError(cause, messages[cause]);
}
