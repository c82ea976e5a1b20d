import { parseEnv } from "@millrace/env";
import { allowPrivateSchema } from "@millrace/safe-http";
import { z } from "zod";

/** What `pnpm dev` uses where API_KEYS is not set. Public knowledge, so production refuses it. */
export const developmentApiKey = "millrace-development-key";

const apiKeys = z
  .string({ error: "expected one key or several, separated by commas; `openssl rand -hex 24` makes a good one" })
  .transform((text) => text.split(",").map((key) => key.trim()))
  .pipe(z.array(z.string().min(16, "expected keys of at least 16 characters, separated by commas")).min(1));

export const apiEnvSchema = z.object({
  NODE_ENV: z.enum(["development", "test", "production"]).default("development"),
  API_HOST: z.string().default("127.0.0.1"),
  API_PORT: z.coerce.number().int().min(0).max(65_535).default(3_000),
  API_KEYS: apiKeys,
  // From when on readiness calls a queue degraded.
  HEALTH_MAX_QUEUE_DEPTH: z.coerce.number().int().min(0).default(10_000),
  HEALTH_MAX_DEAD_LETTERS: z.coerce.number().int().min(0).default(100),
  // What tenants may ask of schedules.
  SCHEDULE_MIN_INTERVAL_MS: z.coerce.number().int().min(100).default(60_000),
  SCHEDULE_MAX_PER_WORKSPACE: z.coerce.number().int().min(0).default(100),
});

/** @throws EnvironmentError also when production is given the development key */
export function readApiEnv(source?: Record<string, string | undefined>): z.output<typeof apiEnvSchema> {
  const productionKeys = apiKeys.refine((keys) => !keys.includes(developmentApiKey), {
    message: "expected keys of your own in production, got the one for development",
  });
  const isProduction = (source ?? process.env).NODE_ENV === "production";
  return parseEnv(isProduction ? apiEnvSchema.extend({ API_KEYS: productionKeys }) : apiEnvSchema, source);
}

/** The port alone, for whoever starts the API and brings the keys itself. */
export function readApiPort(): number {
  return parseEnv(apiEnvSchema.pick({ API_PORT: true })).API_PORT;
}

export const webhookTargetEnvSchema = z.object({
  NODE_ENV: z.enum(["development", "test", "production"]).default("development"),
  WEBHOOK_ALLOW_PRIVATE: allowPrivateSchema({ isProduction: false }),
});

/** @throws EnvironmentError also when production would take endpoints in its own network; the webhook worker refuses the same */
export function readWebhookTargetEnv(
  source?: Record<string, string | undefined>,
): z.output<typeof webhookTargetEnvSchema> {
  const isProduction = (source ?? process.env).NODE_ENV === "production";
  const schema = webhookTargetEnvSchema.extend({ WEBHOOK_ALLOW_PRIVATE: allowPrivateSchema({ isProduction }) });
  return parseEnv(schema, source);
}
