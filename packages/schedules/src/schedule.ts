import { queueNames } from "@millrace/worker-config/contracts";
import { z } from "zod";
import type { Cadence } from "./cadence/index.ts";

const dayMs = 24 * 60 * 60_000;

/** What a due time does while the job of the one before has not ended: add nothing, or add its own job behind it. */
export const overlapPolicies = z.enum(["skip", "queue"]);

/**
 * What becomes of due times that nobody was there for: nothing, one run for all of them, or a run for each of the latest ones. A due time is
 * missed when a later one is due already, or when it is more than a minute late.
 */
export const missedPolicies = z.union([
  z.enum(["skip", "once"]),
  z.strictObject({
    all: z.strictObject({
      max: z.int().min(1).max(100).describe("At most so many runs, the latest."),
      withinMs: z
        .int()
        .min(1)
        .max(30 * dayMs)
        .default(dayMs)
        .describe("None that is more than so many milliseconds late."),
    }),
  }),
]);

export type OverlapPolicy = z.output<typeof overlapPolicies>;
export type MissedPolicy = z.output<typeof missedPolicies>;

/** A schedule: when it is due, and the job that it then adds. Data, kept in Redis. */
export interface Schedule {
  readonly id: string;
  /** The workspace whose schedule it is; null for one of the code. */
  readonly workspaceId: string | null;
  readonly cadence: Cadence;
  readonly queue: z.output<typeof queueNames>;
  readonly action: string;
  readonly data: unknown;
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
}

const cadence = z.union([z.object({ everyMs: z.number() }), z.object({ cron: z.string(), timeZone: z.string() })]);

/** Reads a schedule back from Redis. It was checked on its way in; what a newer version wrote may not be understood. */
export const storedScheduleSchema = z.object({
  id: z.string(),
  workspaceId: z.string().nullable(),
  cadence,
  queue: queueNames,
  action: z.string(),
  data: z.unknown(),
  overlap: overlapPolicies,
  missed: missedPolicies,
});

/** Runs that are made up for would skip each other: only `queue` lets several wait. */
export function refinePolicies(
  { overlap, missed }: { readonly overlap: OverlapPolicy; readonly missed: MissedPolicy },
  context: z.RefinementCtx,
): void {
  if (overlap === "queue" || typeof missed === "string") return;
  context.addIssue({ code: "custom", path: ["overlap"], message: "expected queue where missed is all" });
}
