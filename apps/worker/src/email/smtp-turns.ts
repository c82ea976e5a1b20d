import type { Logger } from "@millrace/logger";
import { createRateLimit, createRedis, readRedisEnv } from "@millrace/redis";
import { readQueueEnv } from "@millrace/worker-config";
import type { WorkerService } from "@millrace/worker-host";

// A job has 30 seconds, and a Redis that is away is to be told apart from a job that takes too long.
const answerWithinMs = 2_000;

export interface SmtpTurns extends WorkerService {
  /**
   * Rejects after two seconds without Redis. A turn that is given all the same is kept for its holder.
   *
   * @returns how many milliseconds the mail server is to be left alone before `holder`'s mail; 0 is now
   */
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
  const redis = createRedis("worker", readRedisEnv().REDIS_URL, onOutage);
  const name = `smtp:${new URL(smtpUrl).host}`;
  const { takeTurn } = createRateLimit({ redis, prefix: readQueueEnv().QUEUE_PREFIX, name, max, durationMs });
  return {
    takeTurn: (holder) => withinTime(takeTurn(holder)),
    check: () => redis.ping(),
    close: async () => redis.disconnect(),
  };
}

async function withinTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis gave no answer within ${answerWithinMs} ms.`)), answerWithinMs);
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
