import type { Logger } from "@millrace/logger";
import { createRedisClock, type RedisClock } from "@millrace/redis";
import type { RedisClient } from "bullmq";

/** The clock of a worker's Redis. The log says when this machine's is found to be off. */
export function createWorkerClock(client: () => Promise<RedisClient>, log: Logger): RedisClock {
  return createRedisClock({
    askTime: async () => (await client()).runCommand("time", []),
    onSkew: (message, skewMs) => log.warn({ code: "clock_skew", skewMs: Math.round(skewMs) }, message),
    onForbidden: (message) => log.warn({ code: "clock_unknown" }, message),
  });
}
