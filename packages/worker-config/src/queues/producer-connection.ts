import {
  createRedis,
  type RedisConnectionOptions,
  type RedisRole,
  readRedisEnv,
  redisConnectionOptions,
} from "@millrace/redis";
import type { Redis } from "ioredis";
import { withDeadline } from "./deadline.ts";

/**
 * Connection options for `REDIS_URL`, fit for a role. Reads the environment when called, not when imported.
 *
 * @param role `producer` fails at once when Redis is away; `worker` and `events` wait for ever
 * @throws EnvironmentError when REDIS_URL is missing or malformed: there is no default host
 */
export function getRedisConnection(role: RedisRole): RedisConnectionOptions {
  return redisConnectionOptions(role, readRedisEnv().REDIS_URL);
}

const quitDeadlineMs = 500;

let connection: Redis | undefined;

/** The one connection that all queues of this process share, made on first use. */
export function producerConnection(): Redis {
  connection ??= createRedis("producer", readRedisEnv().REDIS_URL, (error) => {
    // A warning of the process reaches its owner whatever logger it uses, and once per outage.
    process.emitWarning(`Producers cannot reach Redis, and go on trying: ${error.message}`, { code: "MILLRACE_REDIS" });
  });
  return connection;
}

export async function closeProducerConnection(): Promise<void> {
  const closing = connection;
  connection = undefined;
  // A connection that is not ready has nothing to say goodbye with, and QUIT would wait for it.
  if (closing?.status !== "ready") return closing?.disconnect();
  // Nor does a Redis that is frozen answer it.
  const silent = () => new Error(`Redis did not answer QUIT within ${quitDeadlineMs} ms.`);
  await withDeadline(closing.quit(), quitDeadlineMs, silent).catch(() => closing.disconnect());
}
