const maxLine = 2_000;

/** How many lines of a job are kept; older ones go. */
export const mostNotes = 100;

/** As much of what a handler says of its job as is kept. What is no text says what kind of thing it is. */
export function noteOf(line: unknown): string {
  return typeof line === "string" ? line.slice(0, maxLine) : `(${typeof line})`;
}
