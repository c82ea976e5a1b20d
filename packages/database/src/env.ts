import { type Environment, parseEnv } from "@millrace/env";
import { z } from "zod";

export const databaseEnvSchema = z.object({
  DATABASE_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: "expected postgres://user:password@host:port/database",
  }),
  DATABASE_POOL_MAX: z.coerce.number().int().min(1).max(200).default(10),
});

/** @throws EnvironmentError that names the variable */
export function readDatabaseEnv(source?: Environment): z.output<typeof databaseEnvSchema> {
  return parseEnv(databaseEnvSchema, source);
}
