import { cursorOf, writeCursor } from "@millrace/page-cursor";
import { type QueueName, queueNames } from "@millrace/worker-config/contracts";
import { z } from "zod";

/** The lists that a listing goes through, one after the other. `found` is an index's. */
export const jobLists = z.enum([
  "active",
  "wait",
  "prioritized",
  "delayed",
  "waiting-children",
  "failed",
  "completed",
  "found",
]);
export type JobListName = z.infer<typeof jobLists>;

/** Where a job lies in a listing. */
export interface JobPlace {
  readonly list: JobListName;
  readonly queue: QueueName;
  /**
   * Of an ended job when it ended, of one that was found when it was created, in milliseconds since 1970; in any other sorted list its score
   * there. Where a list has no such order it is 0.
   */
  readonly position: number;
  readonly jobId: string;
}

/** A place as a caller keeps it between two calls, with what `digestFilter` says of the search. */
export function toPlaceCursor(search: string, { list, queue, position, jobId }: JobPlace): string {
  return writeCursor([search, list, queue, position, jobId]);
}

// A delayed job's score is 4,096 times the time at which it is due: from 2039 on no safe integer any more, and the same number here and in Redis.
const positionSchema = z
  .number()
  .nonnegative()
  .max(2 ** 66)
  .refine(Number.isInteger);

const partsSchema = z.tuple([z.string(), jobLists, queueNames, positionSchema, z.string()]);

/** The way back from `toPlaceCursor`. */
export const placeCursorSchema = cursorOf(partsSchema).transform(
  ([search, list, queue, position, jobId]): { search: string; place: JobPlace } => ({
    search,
    place: { list, queue, position, jobId },
  }),
);
