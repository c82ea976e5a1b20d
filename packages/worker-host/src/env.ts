import { type Environment, parseEnv } from "@millrace/env";
import { defaultWorkerOptions } from "@millrace/worker-config";
import { z } from "zod";
import packageJson from "../package.json" with { type: "json" };

const { version } = packageJson;

export const workerHostEnvSchema = z.object({
  NODE_ENV: z.enum(["development", "test", "production"]).default("development"),
  WORKER_LOCK_DURATION_MS: z.coerce.number().int().default(defaultWorkerOptions.lockDuration),
  WORKER_STALLED_INTERVAL_MS: z.coerce.number().int().default(defaultWorkerOptions.stalledInterval),
  // Longer than the longest attempt, so that a deploy lets what runs come to its end.
  WORKER_SHUTDOWN_GRACE_MS: z.coerce.number().int().min(0).max(3_600_000).default(35_000),
  WORKER_VERSION: z.string().min(1).max(100).default(version),
  WORKER_HEALTH_HOST: z.string().default("127.0.0.1"),
  WORKER_HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
});

/** @throws EnvironmentError with a sentence for each variable that is wrong; none is required */
export function readWorkerHostEnv(source?: Environment): z.output<typeof workerHostEnvSchema> {
  return parseEnv(workerHostEnvSchema, source);
}

/** `aiAgent` → `AI_AGENT_WORKER_CONCURRENCY`. */
export function concurrencyVariable(queueName: string): string {
  return `${queueName.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}_WORKER_CONCURRENCY`;
}

/** How many jobs of its queue one process runs at once, 1 to 200. Defaults to 10. Each domain's env.ts names its own variable with it. */
export const workerConcurrency = z.coerce.number().int().min(1).max(200).default(defaultWorkerOptions.concurrency);

/**
 * How many jobs of a queue this process runs at once.
 *
 * @throws EnvironmentError where the variable is no whole number from 1 to 200
 */
export function readConcurrency(queueName: string): number {
  const name = concurrencyVariable(queueName);
  return parseEnv(z.object({ [name]: workerConcurrency }))[name] ?? defaultWorkerOptions.concurrency;
}
