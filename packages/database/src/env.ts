import { parseEnv } from "@millrace/env";
import { z } from "zod";

export const databaseEnvSchema = z.object({
  DATABASE_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: "expected postgres://user:password@host:port/database. `pnpm dev` starts a PostgreSQL and sets it by itself",
  }),
  DATABASE_POOL_MAX: z.coerce.number().int().min(1).max(200).default(10),
});

/** @throws EnvironmentError that names the variable */
export function readDatabaseEnv(): z.output<typeof databaseEnvSchema> {
  return parseEnv(databaseEnvSchema);
}
