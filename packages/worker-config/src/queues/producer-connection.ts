import {
  createRedis,
  createRedisClock,
  type RedisClock,
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

/** What all queues of this process share: one connection, and the clock at its other end. */
export interface Producer {
  readonly redis: Redis;
  readonly clock: RedisClock;
}

let producer: Producer | undefined;

/** The process's one connection for producers, made on first use. */
export function producerConnection(): Producer {
  producer ??= openProducer();
  return producer;
}

/**
 * Now, in milliseconds since 1970: by Redis' clock, which jobs are dated by, where this machine's is known to be off. Asks nothing: to be called
 * within `askQueue`, when the clock is known.
 */
export function redisNow(): number {
  return producerConnection().clock.now();
}

function openProducer(): Producer {
  // A warning of the process reaches its owner whatever logger it uses, and once per outage.
  const redis = createRedis("producer", readRedisEnv().REDIS_URL, (error) => {
    process.emitWarning(`Producers cannot reach Redis, and go on trying: ${error.message}`, { code: "MILLRACE_REDIS" });
  });
  const clock = createRedisClock({
    askTime: () => redis.time(),
    onSkew: (message) => process.emitWarning(message, { code: "clock_skew" }),
    onForbidden: (message) => process.emitWarning(message, { code: "clock_unknown" }),
  });
  redis.on("ready", clock.measureAnew);
  return { redis, clock };
}

export async function closeProducerConnection(): Promise<void> {
  const closing = producer?.redis;
  producer = undefined;
  // A connection that is not ready has nothing to say goodbye with, and QUIT would wait for it.
  if (closing?.status !== "ready") return closing?.disconnect();
  // Nor does a Redis that is frozen answer it.
  const silent = () => new Error(`Redis did not answer QUIT within ${quitDeadlineMs} ms.`);
  await withDeadline(closing.quit(), quitDeadlineMs, silent).catch(() => closing.disconnect());
}
