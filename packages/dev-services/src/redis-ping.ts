import { Redis } from "ioredis";

/**
 * Waits until the Redis at `url` answers.
 *
 * @throws Error after `deadlineMs`, with the last reason and without the URL's credentials
 */
export async function pingRedis(url: string, deadlineMs: number): Promise<void> {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(20 * attempt, 200),
    connectTimeout: deadlineMs,
  });
  let reason = "no answer";
  redis.on("error", (error: Error) => {
    reason = error.message;
  });
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms (${reason})`)), deadlineMs);
  try {
    await Promise.race([redis.ping(), tooLate]);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}
