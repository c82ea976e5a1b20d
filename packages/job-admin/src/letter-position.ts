import { type QueueName, queueNames } from "@millrace/worker-config/contracts";
import { z } from "zod";

/** Where a letter lies in the one sequence that all failed sets are read as. */
export interface LetterPosition {
  readonly failedAtMs: number;
  readonly queue: QueueName;
  readonly jobId: string;
}

/**
 * Older before newer; at one millisecond by queue, then by the bytes of the id, as Redis itself sorts.
 *
 * @returns below 0 when `one` comes before `other`
 */
export function comparePositions(one: LetterPosition, other: LetterPosition): number {
  return (
    one.failedAtMs - other.failedAtMs ||
    queueNames.options.indexOf(one.queue) - queueNames.options.indexOf(other.queue) ||
    Buffer.compare(Buffer.from(one.jobId), Buffer.from(other.jobId))
  );
}

const storedSchema = z.tuple([z.number(), queueNames, z.string()]);

/** A position as a caller keeps it between two calls: text without a meaning of its own. */
export function toCursor({ failedAtMs, queue, jobId }: LetterPosition): string {
  return Buffer.from(JSON.stringify([failedAtMs, queue, jobId])).toString("base64url");
}

/** The way back from `toCursor`. What no call returned is refused, like any other wrong argument, with a ZodError. */
export const cursorSchema = z.string().transform((cursor, context): LetterPosition => {
  const parsed = storedSchema.safeParse(parseJson(Buffer.from(cursor, "base64url").toString()));
  if (!parsed.success) {
    context.addIssue({ code: "custom", message: "expected a cursor that an earlier page returned" });
    return z.NEVER;
  }
  const [failedAtMs, queue, jobId] = parsed.data;
  return { failedAtMs, queue, jobId };
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
