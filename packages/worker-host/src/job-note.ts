const maxLine = 2_000;

/** How many lines of a job are kept; older ones go. */
export const mostNotes = 100;

/** As much of what a handler says of its job as is kept. */
export const noteOf = (line: string): string => String(line).slice(0, maxLine);
