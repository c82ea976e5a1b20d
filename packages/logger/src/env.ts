import { type Environment, parseEnv } from "@millrace/env";
import { z } from "zod";

export const loggerEnvSchema = z.object({
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  LOG_FORMAT: z.enum(["json", "pretty"]).default("json"),
});

export function readLoggerEnv(source?: Environment): z.output<typeof loggerEnvSchema> {
  return parseEnv(loggerEnvSchema, source);
}
