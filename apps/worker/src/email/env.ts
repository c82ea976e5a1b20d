import { parseEnv } from "@millrace/env";
import { workerConcurrency } from "@millrace/worker-host";
import { z } from "zod";

export const emailEnvSchema = z.object({
  SMTP_URL: z.url({
    protocol: /^smtps?$/,
    error:
      "expected smtp://[user:password@]host:port, or smtps:// for TLS. `pnpm dev` starts an inbox and sets it by itself",
  }),
  SMTP_RATE_MAX: z.coerce.number().int().min(1).optional(),
  SMTP_RATE_DURATION_MS: z.coerce.number().int().min(1_000).default(60_000),
  EMAIL_WORKER_CONCURRENCY: workerConcurrency,
  EMAIL_FROM: z.string().min(3).default("Millrace <no-reply@millrace.invalid>"),
});

export function readEmailEnv(): z.output<typeof emailEnvSchema> {
  return parseEnv(emailEnvSchema);
}
