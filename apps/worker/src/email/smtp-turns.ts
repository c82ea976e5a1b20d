import type { Logger } from "@millrace/logger";
import { createRateLimit, createRedis, readRedisEnv } from "@millrace/redis";
import { readQueueEnv } from "@millrace/worker-config";
import type { WorkerService } from "@millrace/worker-host";

export interface SmtpTurns extends WorkerService {
  /** @returns how many milliseconds the mail server is to be left alone before `holder`'s mail; 0 is now */
  takeTurn(holder: string): Promise<number>;
}

/** Shares a mail server's rate among all processes that send through it, on a connection to Redis of its own. */
export function openSmtpTurns(
  smtpUrl: string,
  { max, durationMs }: { readonly max: number; readonly durationMs: number },
  log: Logger,
): SmtpTurns {
  const onOutage = (err: Error) =>
    log.warn({ code: "smtp_rate_unreachable", err }, "cannot ask for the mail server's rate, trying again");
  // It fails at once during an outage, and the job is put off.
  const redis = createRedis("producer", readRedisEnv().REDIS_URL, onOutage);
  const name = `smtp:${new URL(smtpUrl).host}`;
  const { takeTurn } = createRateLimit({ redis, prefix: readQueueEnv().QUEUE_PREFIX, name, max, durationMs });
  return {
    takeTurn,
    check: () => redis.ping(),
    close: async () => redis.disconnect(),
  };
}
