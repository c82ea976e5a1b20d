/** Why an attempt was ended from outside its handler. */
export type AbortCause = "cancelled" | "interrupted" | "lockLost" | "timeout";

/** The reason of an attempt's signal: whoever rejects with it rejects with an Error. */
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

export function abortedBy(cause: keyof typeof messages): AbortedError {
  return new AbortedError(cause, messages[cause]);
}
