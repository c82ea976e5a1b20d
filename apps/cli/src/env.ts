import { databaseEnvSchema } from "@millrace/database";
import { parseEnv } from "@millrace/env";
import { z } from "zod";

export const auditEnvSchema = z.object({
  // Optional here: without a database there is no audit log, and commands say so.
  DATABASE_URL: databaseEnvSchema.shape.DATABASE_URL.optional(),
  // As the API has it.
  AUDIT_KEEP_DAYS: z.coerce.number().int().min(1).max(3_650).default(365),
});

/** @throws EnvironmentError that names the variable */
export function readAuditEnv(): z.output<typeof auditEnvSchema> {
  return parseEnv(auditEnvSchema);
}

export const terminalEnvSchema = z.object({ NO_COLOR: z.string().optional() });

export function readTerminalEnv(): z.output<typeof terminalEnvSchema> {
  return parseEnv(terminalEnvSchema);
}
