import { readDatabaseEnv } from "@millrace/database";
import { type Environment, parseEnv, readTogether } from "@millrace/env";
import { allowPrivateSchema } from "@millrace/safe-http";
import { webhookContract } from "@millrace/worker-config/contracts";
import { workerConcurrency, workerReaders } from "@millrace/worker-host";
import { z } from "zod";

const day = 24 * 60 * 60_000;

export const webhookEnvSchema = z.object({
  NODE_ENV: z.enum(["development", "test", "production"]).default("development"),
  WEBHOOK_WORKER_CONCURRENCY: workerConcurrency,
  WEBHOOK_TIMEOUT_MS: z.coerce.number().int().min(100).max(25_000).default(15_000),
  WEBHOOK_HOST_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(10),
  WEBHOOK_HOST_RATE_PER_SECOND: z.coerce.number().int().min(1).max(1_000).default(20),
  WEBHOOK_PAUSE_AFTER_MS: z.coerce
    .number()
    .int()
    .min(60_000)
    .max(365 * day)
    .default(3 * day),
  WEBHOOK_ALLOW_PRIVATE: allowPrivateSchema({ isProduction: false }),
});

/** @throws EnvironmentError also when production would let deliveries into its own network */
export function readWebhookEnv(source?: Environment): z.output<typeof webhookEnvSchema> {
  const isProduction = (source ?? process.env).NODE_ENV === "production";
  const schema = webhookEnvSchema.extend({ WEBHOOK_ALLOW_PRIVATE: allowPrivateSchema({ isProduction }) });
  return parseEnv(schema, source);
}

/** Everything that this program reads. */
export function readSettings(source?: Environment) {
  const readers = { webhook: readWebhookEnv, database: readDatabaseEnv };
  return readTogether({ ...readers, ...workerReaders(webhookContract) }, source);
}
