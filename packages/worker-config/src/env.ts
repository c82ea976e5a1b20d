import { type Environment, parseEnv } from "@millrace/env";
import { z } from "zod";
import { defaultMaxPayloadBytes } from "./jobs/check-payload.ts";

export const queueEnvSchema = z.object({
  // A hash tag by default, so that on Redis Cluster all queues share a slot and a flow may span several of them.
  QUEUE_PREFIX: z
    .string()
    .regex(/^[^:\s]+$/, "expected a name without colon or space")
    .default("{millrace}"),
  QUEUE_MAX_PAYLOAD_BYTES: z.coerce.number().int().min(1_024).max(8_388_608).default(defaultMaxPayloadBytes),
  NEXT_PHASE: z.string().optional(),
});

export function readQueueEnv(source?: Environment): z.output<typeof queueEnvSchema> {
  return parseEnv(queueEnvSchema, source);
}
