export {
  type RedisConnectionOptions,
  type RedisRole,
  reconnectDelayMs,
  redisAddress,
  redisConnectionOptions,
} from "./connection-options.ts";
export { createRedis } from "./create-redis.ts";
export {
  createDistributedLock,
  type DistributedLock,
  type ExclusiveContext,
  LockContendedError,
  LockLostError,
  type RunExclusiveOptions,
} from "./distributed-lock.ts";
export { readRedisEnv, redisEnvSchema } from "./env.ts";
export { type OwnKeyKind, ownKey } from "./key-names.ts";
export { type LockWait, onLockWait } from "./lock-waits.ts";
export { createRateLimit, type RateLimit, type RateLimitOptions } from "./rate-limit.ts";
export { createRedisClock, type RedisClock, type RedisClockOptions } from "./redis-clock.ts";
export {
  createSemaphore,
  type Semaphore,
  SemaphoreFullError,
  type SemaphoreOptions,
  SemaphorePlaceLostError,
  type WithPlaceOptions,
} from "./semaphore.ts";
export { subscribe } from "./subscribe.ts";
