import { parseEnv } from "@millrace/env";
import { z } from "zod";

const port = z.coerce.number().int().min(0).max(65_535);

export const devServicesEnvSchema = z.object({
  REDIS_URL: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  DEV_REDIS: z.enum(["auto", "server", "embedded", "cluster"]).default("auto"),
  DEV_INBOX_HTTP_PORT: port.default(8_025),
  DEV_INBOX_SMTP_PORT: port.default(1_025),
  DEV_RECEIVER_HTTP_PORT: port.default(8_026),
  DEV_MODEL_HTTP_PORT: port.default(8_027),
  DEV_STATE_DIR: z.string().default(".millrace"),
});

/**
 * What the environment says about the services for development.
 *
 * @throws EnvironmentError that names the variable with a wrong value
 */
export function readDevServicesEnv(): z.output<typeof devServicesEnvSchema> {
  return parseEnv(devServicesEnvSchema);
}

/** The folders in which commands are looked for, as the operating system writes them. */
export function readSearchPath(): string {
  return process.env.PATH ?? "";
}
