import { z } from "zod";

const day = 24 * 60 * 60 * 1000;
const durationMs = (minimum: number, maximum: number) => z.int().min(minimum).max(maximum);

// BullMQ keeps these records of a queue beside its jobs: a job named `wait` would overwrite the list of waiting jobs.
const reservedIds: ReadonlySet<string> = new Set([
  "active",
  "completed",
  "de",
  "delayed",
  "events",
  "failed",
  "id",
  "limiter",
  "marker",
  "meta",
  "paused",
  "pc",
  "prioritized",
  "repeat",
  "stalled",
  "stalled-check",
  "wait",
  "waiting-children",
]);

/** `:` separates the parts of a Redis key, and BullMQ takes a whole number (and `NaN`) for one of its own counters. */
export const jobIdSchema = z
  .string()
  .min(1)
  .max(250)
  .regex(/^[\w.@+~=-]+$/, "expected letters, digits and _ . @ + ~ = - (makeJobId builds such an id from anything)")
  .regex(/^(?!(-?\d+|NaN)$)/, "expected more than digits alone (makeJobId builds such an id from anything)")
  .refine((id) => !reservedIds.has(id), "expected another name: the queue keeps a record of its own under this one");

/** Of a job's `meta`. */
export const maxMetaEntries = 32;

/**
 * What the caller of an enqueue may ask for: one schema for `enqueue`, the API and the command line. Everything is optional; an
 * unknown key is refused, because an option that silently does nothing is worse than an error.
 */
export const enqueueOptionsSchema = z
  .strictObject({
    delayMs: durationMs(0, 365 * day)
      .optional()
      .describe("Wait this long before the first attempt, in milliseconds."),
    runAt: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(
        "Run no earlier than this moment, by Redis' clock, the one that all have in common; the past means now.",
      ),
    priority: z
      .int()
      .min(1)
      .max(10)
      .optional()
      .describe("1 is the most urgent, 10 the least; without one a job runs before them all."),
    attempts: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe("How often the job may be tried in all. Defaults to its action's, else 3."),
    retryIntervalsMs: z
      .array(durationMs(0, 30 * day))
      .min(1)
      .max(100)
      .optional()
      .describe(
        "The waits before each retry; the last one repeats. Without it the waits grow exponentially, with jitter.",
      ),
    timeoutMs: durationMs(1, day).optional().describe("How long one attempt may take. Defaults to its action's."),
    resultTtlMs: durationMs(1_000, 30 * day)
      .optional()
      .describe("How long the result stays readable. Defaults to the job's own life."),
    jobId: jobIdSchema
      .optional()
      .describe("The job's identity: an enqueue with an id that exists adds nothing and answers `duplicate`."),
    dedupe: z
      .strictObject({
        key: jobIdSchema.describe("Jobs with the same key stand for each other."),
        mode: z
          .enum(["drop", "latest", "again"])
          .describe(
            "drop: while one is pending, running or within ttlMs, a further one adds nothing. latest: a waiting one is replaced and its delayMs starts anew. again: one that comes while another runs is kept, the latest only, and runs after it.",
          ),
        ttlMs: durationMs(1, 30 * day)
          .optional()
          .describe("With drop: how long the key holds, whatever becomes of the job."),
      })
      .optional(),
    meta: z
      .record(z.string().min(1).max(64), z.union([z.string().max(1_024), z.number(), z.boolean()]))
      .refine((meta) => Object.keys(meta).length <= maxMetaEntries, `expected at most ${maxMetaEntries} entries`)
      .optional()
      .describe("Labels of the caller's own, kept with the job and shown with it."),
  })
  .refine((options) => options.delayMs === undefined || options.runAt === undefined, {
    path: ["runAt"],
    message: "expected delayMs or runAt, not both",
  })
  .refine((options) => options.dedupe?.mode !== "latest" || (options.delayMs ?? 0) > 0, {
    path: ["delayMs"],
    message: "expected a delay with dedupe mode latest: it is the time in which a later job replaces the waiting one",
  })
  .refine((options) => options.dedupe?.ttlMs === undefined || options.dedupe.mode === "drop", {
    path: ["dedupe", "ttlMs"],
    message: "expected with mode drop only",
  })
  .refine((options) => options.dedupe === undefined || options.jobId === undefined, {
    path: ["dedupe"],
    message: "expected jobId or dedupe, not both: each decides alone what a duplicate is",
  });

export type EnqueueOptions = z.input<typeof enqueueOptionsSchema>;
