/** Why a job failed: a code that programs read and a sentence for people. */
export interface JobFailure {
  readonly code: string;
  readonly message: string;
}

/** BullMQ keeps one string per failure. `[code] message` in it means that code and failure are written at once, by one command. */
export function formatJobFailure(failure: JobFailure): string {
  return `[${failure.code}] ${failure.message}`;
}

const engineFailures: readonly (readonly [RegExp, string])[] = [
  [/stalled more than allowable limit/, "stalled"],
  [/started more than allowable limit/, "poison"],
  [/^child .+ failed$/, "child_failed"],
];

/** Reads a stored failure back. One that the engine or a foreign worker wrote gets the code of its cause, else `unknown`. */
export function parseJobFailure(failedReason: string): JobFailure {
  const coded = /^\[([a-z][a-z0-9_]*)\] (.*)$/s.exec(failedReason);
  if (coded?.[1] !== undefined && coded[2] !== undefined) return { code: coded[1], message: coded[2] };
  const code = engineFailures.find(([pattern]) => pattern.test(failedReason))?.[1] ?? "unknown";
  return { code, message: failedReason };
}
