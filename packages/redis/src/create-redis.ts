import { Redis } from "ioredis";
import { type RedisRole, redisConnectionOptions } from "./connection-options.ts";

/**
 * A client for a role. It connects by itself and for ever.
 *
 * @param onOutage told once when the connection is lost or cannot be made, not at every attempt, and again only after it was ready
 *   in between. An ioredis client without an error listener ends the process, so every client of ours is made here.
 */
export function createRedis(role: RedisRole, redisUrl: string, onOutage: (error: Error) => void): Redis {
  const redis = new Redis(redisConnectionOptions(role, redisUrl));
  let isDown = false;
  redis.on("error", (error: Error) => {
    if (isDown) return;
    isDown = true;
    // ioredis hangs the command on its errors, and the arguments of the first one are user and password.
    Reflect.deleteProperty(error, "command");
    onOutage(error);
  });
  redis.on("ready", () => {
    isDown = false;
  });
  return redis;
}
