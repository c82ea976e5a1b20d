/** Why a job failed: a code that programs read and a sentence for people. */
export interface JobFailure {
  readonly code: string;
  readonly message: string;
}

/** BullMQ keeps one string per failure. `[code] message` in it means that code and failure are written at once, by one command. */
export function formatJobFailure(failure: JobFailure): string {
  return `[${failure.code}] ${failure.message}`;
}

/** What the engine writes when it gives up on a job by itself, and what that means. */
const engineFailures: readonly (readonly [RegExp, { readonly code: string; readonly message?: string }])[] = [
  [
    /stalled more than allowable limit/,
    {
      code: "poison",
      message: "At each of its starts the job's process died, or was too busy to keep the job's lock.",
    },
  ],
  [
    /started more than allowable limit/,
    { code: "poison", message: "The job was started more often than any job may be, and came to no end." },
  ],
  // Its own words name the child.
  [/^child .+ failed$/, { code: "child_failed" }],
];

/** Reads a stored failure back. One that the engine or a foreign worker wrote gets the code of its cause, else `unknown`. */
export function parseJobFailure(failedReason: string): JobFailure {
  const coded = /^\[([a-z][a-z0-9_]*)\] (.*)$/s.exec(failedReason);
  if (coded?.[1] !== undefined && coded[2] !== undefined) return { code: coded[1], message: coded[2] };
  const known = engineFailures.find(([pattern]) => pattern.test(failedReason))?.[1];
  return { code: known?.code ?? "unknown", message: known?.message ?? failedReason };
}
