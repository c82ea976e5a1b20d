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
  /** Of an ended job when it ended, of one that was found when it was created, in milliseconds since 1970; of any other its rank. */
  readonly position: number;
  readonly jobId: string;
}

const storedSchema = z.tuple([jobLists, queueNames, z.int().nonnegative(), z.string()]);

/** A place as a caller keeps it between two calls: text without a meaning of its own. */
export function toPlaceCursor({ list, queue, position, jobId }: JobPlace): string {
  return Buffer.from(JSON.stringify([list, queue, position, jobId])).toString("base64url");
}

/** The way back from `toPlaceCursor`. What no call returned is refused, like any other wrong argument, with a ZodError. */
export const placeCursorSchema = z.string().transform((cursor, context): JobPlace => {
  const parsed = storedSchema.safeParse(parseJson(Buffer.from(cursor, "base64url").toString()));
  if (!parsed.success) {
    context.addIssue({ code: "custom", message: "expected a cursor that an earlier page returned" });
    return z.NEVER;
  }
  const [list, queue, position, jobId] = parsed.data;
  return { list, queue, position, jobId };
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
