import { readDatabaseEnv } from "@millrace/database";
import { type Environment, parseEnv, readTogether } from "@millrace/env";
import { readFileStoreSettings } from "@millrace/file-store";
import { emailContract } from "@millrace/worker-config/contracts";
import { workerConcurrency, workerReaders } from "@millrace/worker-host";
import { z } from "zod";

export const emailEnvSchema = z.object({
  SMTP_URL: z.url({
    protocol: /^smtps?$/,
    error: "expected smtp://[user:password@]host:port, or smtps:// for TLS",
  }),
  SMTP_RATE_MAX: z.coerce.number().int().min(1).optional(),
  SMTP_RATE_DURATION_MS: z.coerce.number().int().min(1_000).default(60_000),
  EMAIL_WORKER_CONCURRENCY: workerConcurrency,
  EMAIL_FROM: z.string().min(3).default("Millrace <no-reply@millrace.invalid>"),
});

export function readEmailEnv(source?: Environment): z.output<typeof emailEnvSchema> {
  return parseEnv(emailEnvSchema, source);
}

/** Everything that this program reads. */
export function readSettings(source?: Environment) {
  const readers = { email: readEmailEnv, database: readDatabaseEnv, files: readFileStoreSettings };
  return readTogether({ ...readers, ...workerReaders(emailContract) }, source);
}
