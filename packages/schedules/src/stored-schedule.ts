import { z } from "zod";
import { type Schedule, storedScheduleSchema } from "./schedule.ts";

/** A schedule as Redis holds it, with what became of it so far. Times are milliseconds since 1970, by Redis' clock. */
export interface StoredSchedule {
  readonly schedule: Schedule;
  /** What its interval is counted from. */
  readonly anchorMs: number;
  /** The first due time that was not dealt with, or null where none follows, or it is paused. */
  readonly dueMs: number | null;
  /** Since when it is paused; null: it is not. */
  readonly pausedAtMs: number | null;
  /** The job that it added last. */
  readonly lastRun: LastRun | null;
  /** The last due time that got no job, and why. */
  readonly lastSkip: LastSkip | null;
  /** How many due times got a job, how many were missed, and how many were skipped for another reason. */
  readonly counts: { readonly runs: number; readonly missed: number; readonly skipped: number };
}

const lastRun = z.object({
  jobId: z.string(),
  /** Null where somebody ran it by hand. */
  dueMs: z.number().nullable(),
  atMs: z.number(),
});

const lastSkip = z.object({ code: z.string(), dueMs: z.number(), atMs: z.number() });

export type LastRun = z.output<typeof lastRun>;
export type LastSkip = z.output<typeof lastSkip>;

const json = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: "custom", message: "expected JSON" });
        return z.NEVER;
      }
    })
    .pipe(schema);

const count = z.coerce.number().default(0);

const hashSchema = z.object({
  definition: json(storedScheduleSchema),
  anchor: z.coerce.number(),
  due: z.string(),
  paused: z.coerce.number().optional(),
  lastRun: json(lastRun).optional(),
  lastSkip: json(lastSkip).optional(),
  runs: count,
  missed: count,
  skipped: count,
});

/**
 * Reads a schedule's hash, as a script answers it: field, value, field, value.
 *
 * @returns nothing where it is damaged, or from a newer version that this one does not understand
 */
export function parseStoredSchedule(reply: readonly string[]): StoredSchedule | undefined {
  const fields: Record<string, string> = {};
  for (let index = 0; index + 1 < reply.length; index += 2) fields[reply[index] ?? ""] = reply[index + 1] ?? "";
  const parsed = hashSchema.safeParse(fields);
  if (!parsed.success) return undefined;
  const { definition, anchor, due, paused = null, lastRun: run = null, lastSkip: skip = null, ...counts } = parsed.data;
  return {
    schedule: definition,
    anchorMs: anchor,
    dueMs: due === "" ? null : Number(due),
    pausedAtMs: paused,
    lastRun: run,
    lastSkip: skip,
    counts,
  };
}
