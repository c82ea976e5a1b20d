import { type Environment, parseEnv } from "@millrace/env";
import { z } from "zod";

export const redisEnvSchema = z.object({
  REDIS_URL: z.url({
    protocol: /^rediss?$/,
    error:
      "expected redis://[user:password@]host:port[/db], or rediss:// for TLS: the Redis of the workers. In Millrace's own folder `pnpm dev` starts one and sets it",
  }),
});

export function readRedisEnv(source?: Environment): z.output<typeof redisEnvSchema> {
  return parseEnv(redisEnvSchema, source);
}
