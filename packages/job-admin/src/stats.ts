import { queueNames } from "@millrace/worker-config/contracts";
import { z } from "zod";

const timesSchema = z
  .object({
    count: z.int().describe("How many were measured."),
    averageMs: z.number().nullable(),
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
    p99Ms: z.number().nullable(),
  })
  .describe(
    "Over the running hour and the one before. The percentiles come from a histogram: each is true to a tenth.",
  );

const countsShape = {
  pending: z.int().describe("Wait for a worker, for their time, or for their children, and were not tried yet."),
  running: z.int(),
  retrying: z.int().describe("Failed, and wait for their next attempt."),
  success: z.int().describe("Succeeded, and are kept still."),
  failed: z.int().describe("Dead letters."),
  cancelled: z.int().describe("Called off, and are kept still."),
  skipped: z.int().describe("Acknowledged without an effect, and are kept still."),
  total: z.int().describe("All of these: every job that the queue holds."),
  queueSize: z.int().describe("What has not ended: pending, running and retrying."),
  deadLetters: z.int(),
  quarantined: z.int().describe("Taken out of the queue because their records were damaged. Not in `total`."),
  oldestWaitingMs: z
    .number()
    .nullable()
    .describe("How long the job that waits longest could have run already. Null where none waits."),
  throughput: z
    .object({ lastMinute: z.int(), lastHour: z.int() })
    .describe("Jobs that came to their end, whichever, in the last 60 seconds and 60 minutes."),
  wait: timesSchema.describe("From when a job could first run to its first start."),
  run: timesSchema.describe("From the start of an attempt to its end."),
  since: z.iso.datetime().nullable().describe("Since when `ended` counts. Null where no worker has counted yet."),
  ended: z
    .object({ success: z.int(), skipped: z.int(), failed: z.int(), cancelled: z.int(), retry: z.int() })
    .describe("How many starts ended so since then, whether or not the jobs are kept."),
};

export const queueStatsSchema = z
  .object({ queue: queueNames, isPaused: z.boolean(), ...countsShape })
  .meta({ id: "QueueStats" });

/**
 * Counts that workers keep reach Redis once a second: how many of the ended jobs were skipped or cancelled, which wait for another attempt,
 * times and throughput. A worker that is killed, or that Redis refuses, takes its last ones along, and of more than 10,000 ends in a second the
 * rest goes uncounted. Then, and of jobs from before there were statistics, a cancelled job counts as `failed` and as a dead letter, a skipped one
 * as `success`, until `sweepIndexes` (every night) has looked at them; one that waits for another attempt counts as `pending`.
 * All other counts are Redis' own of what it holds.
 */
export const statsSchema = z
  .object({
    queues: z.array(queueStatsSchema),
    total: z.object(countsShape).describe("Of all these queues together; `oldestWaitingMs` is the oldest of them."),
  })
  .meta({ id: "Stats" });

export type QueueStats = z.infer<typeof queueStatsSchema>;
export type Stats = z.infer<typeof statsSchema>;
