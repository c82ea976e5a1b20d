import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { readDatabaseEnv } from "@millrace/database";
import { type Environment, parseEnv, readTogether } from "@millrace/env";
import { readFileStoreSettings } from "@millrace/file-store";
import { readLoggerEnv } from "@millrace/logger";
import { readRedisEnv } from "@millrace/redis";
import { allowPrivateSchema } from "@millrace/safe-http";
import { readTracing } from "@millrace/tracing";
import { readQueueEnv } from "@millrace/worker-config";
import { z } from "zod";

/** What `pnpm dev` uses where API_KEYS is not set. Public knowledge, so production refuses it. */
export const developmentApiKey = "millrace-development-key";

const apiKeys = z
  .string({ error: "expected one key or several, separated by commas; `openssl rand -hex 24` makes a good one" })
  .transform((text) => text.split(",").map((key) => key.trim()))
  .pipe(z.array(z.string().min(16, "expected keys of at least 16 characters, separated by commas")).min(1));

const networkNames = new Set(["loopback", "linklocal", "uniquelocal"]);
const isNetwork = (text: string) => isIP(text.replace(/\/\d{1,3}$/, "")) !== 0 || networkNames.has(text);
const networks = z.string().refine((text) => text.split(",").every((part) => isNetwork(part.trim())), {
  message:
    "expected addresses or networks such as 10.0.0.0/8, separated by commas; loopback, linklocal and uniquelocal are known by name",
});

export const apiEnvSchema = z.object({
  NODE_ENV: z.enum(["development", "test", "production"]).default("development"),
  API_HOST: z.string().default("127.0.0.1"),
  API_PORT: z.coerce.number().int().min(0).max(65_535).default(3_000),
  API_KEYS: apiKeys,
  SESSION_SECRET: z
    .string()
    .min(32, "expected at least 32 characters; `openssl rand -hex 32` makes good ones")
    .optional(),
  API_TRUST_PROXY: networks.optional(),
  API_HSTS_SECONDS: z.coerce.number().int().min(0).default(0),
  API_MAX_WRONG_KEYS: z.coerce.number().int().min(0).default(20),
  API_SHUTDOWN_GRACE_MS: z.coerce.number().int().min(0).max(600_000).default(30_000),
  AUDIT_KEEP_DAYS: z.coerce.number().int().min(1).max(3_650).default(365),
  // From when on readiness calls a queue degraded.
  HEALTH_MAX_QUEUE_DEPTH: z.coerce.number().int().min(0).default(10_000),
  HEALTH_MAX_DEAD_LETTERS: z.coerce.number().int().min(0).default(100),
  // What tenants may ask of schedules.
  SCHEDULE_MIN_INTERVAL_MS: z.coerce.number().int().min(100).default(60_000),
  SCHEDULE_MAX_PER_WORKSPACE: z.coerce.number().int().min(0).default(100),
});

/** @throws EnvironmentError also when production is given the development key */
export function readApiEnv(source?: Environment): z.output<typeof apiEnvSchema> {
  const productionKeys = apiKeys.refine((keys) => !keys.includes(developmentApiKey), {
    message: "expected keys of your own in production, got the one for development",
  });
  const isProduction = (source ?? process.env).NODE_ENV === "production";
  return parseEnv(isProduction ? apiEnvSchema.extend({ API_KEYS: productionKeys }) : apiEnvSchema, source);
}

/**
 * What signs the sessions of people: SESSION_SECRET, and in development what every process can make of API_KEYS. In production only a secret of its
 * own will do, since whoever holds a cookie could try passwords against a key's signature; without one nobody can log in.
 */
export function sessionSecretOf(env: z.output<typeof apiEnvSchema>): string | undefined {
  if (env.SESSION_SECRET !== undefined || env.NODE_ENV === "production") return env.SESSION_SECRET;
  return createHash("sha256").update(`sessions:${env.API_KEYS.join()}`).digest("hex");
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
export function readWebhookTargetEnv(source?: Environment): z.output<typeof webhookTargetEnvSchema> {
  const isProduction = (source ?? process.env).NODE_ENV === "production";
  const schema = webhookTargetEnvSchema.extend({ WEBHOOK_ALLOW_PRIVATE: allowPrivateSchema({ isProduction }) });
  return parseEnv(schema, source);
}

/** Everything that this program reads. */
export function readSettings(source?: Environment) {
  return readTogether(
    {
      api: readApiEnv,
      webhookTarget: readWebhookTargetEnv,
      database: readDatabaseEnv,
      files: readFileStoreSettings,
      redis: readRedisEnv,
      queue: readQueueEnv,
      tracing: readTracing,
      log: readLoggerEnv,
    },
    source,
  );
}
