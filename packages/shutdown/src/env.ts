import { parseEnv } from "@millrace/env";
import { z } from "zod";

// Any value: this is asked where the value may be what was wrong.
const nodeEnvSchema = z.object({ NODE_ENV: z.string().optional() });

export function isProduction(): boolean {
  return parseEnv(nodeEnvSchema).NODE_ENV === "production";
}
