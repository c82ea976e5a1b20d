import { cursorOf, writeCursor } from "@millrace/page-cursor";
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

/** A position as a caller keeps it between two calls. */
export function toCursor({ failedAtMs, queue, jobId }: LetterPosition): string {
  return writeCursor([failedAtMs, queue, jobId]);
}

const partsSchema = z.tuple([z.number(), queueNames, z.string()]);

/** The way back from `toCursor`. */
export const cursorSchema = cursorOf(partsSchema).transform(
  ([failedAtMs, queue, jobId]): LetterPosition => ({ failedAtMs, queue, jobId }),
);
