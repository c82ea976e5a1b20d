import { parseEnv } from "@millrace/env";
import { z } from "zod";

export const auditEnvSchema = z.object({
  // Whether there is an audit log. Its form is the database's to check, which is not loaded where there is none.
  DATABASE_URL: z.string().optional(),
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
