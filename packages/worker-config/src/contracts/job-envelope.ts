import { z } from "zod";

/**
 * What a job's record holds around the payload. `run` is what the enqueue asked of the host beyond what BullMQ's own options can
 * say; it stands apart from `data`, so that an option can never be mistaken for payload nor the reverse.
 */
export const jobEnvelopeSchema = z.object({
  type: z.string(),
  data: z.unknown(),
  run: z
    .object({
      timeoutMs: z.int().positive().optional(),
      retryIntervalsMs: z.array(z.int().nonnegative()).min(1).optional(),
      resultTtlMs: z.int().positive().optional(),
    })
    .optional(),
  meta: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});

export type JobEnvelope = z.infer<typeof jobEnvelopeSchema>;
