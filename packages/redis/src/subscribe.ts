import { Redis } from "ioredis";
import type { RedisConnectionOptions } from "./connection-options.ts";

/**
 * Listens to a channel on a connection of its own, for as long as it is open, through outages of Redis. What is published during an
 * outage is lost: whoever listens must be able to live without a message, or look for what it missed.
 *
 * @param onListening told at the beginning and after each outage: what is published from now on arrives
 * @returns closes the connection
 */
export function subscribe(
  options: RedisConnectionOptions,
  channel: string,
  onMessage: (message: string) => void,
  onListening: () => void = () => {},
): { readonly ready: Promise<void>; close(): void } {
  const redis = new Redis({ ...options, autoResubscribe: false });
  // The connection beside it, over which the work goes, tells of an outage.
  redis.on("error", () => {});
  redis.on("message", (_, message: string) => onMessage(message));
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  redis.on("ready", () =>
    redis
      .subscribe(channel)
      .then(onListening, () => {})
      .then(resolve),
  );
  // Closed before Redis was ever reached.
  redis.on("end", resolve);
  return { ready, close: () => redis.disconnect() };
}
