import { Redis } from "ioredis";
import type { RedisConnectionOptions } from "./connection-options.ts";

/**
 * Listens to a channel on a connection of its own, for as long as it is open, through outages of Redis. What is published before it listens, and
 * during an outage, is lost: whoever listens must be able to live without a message.
 *
 * @param onSubscribed told when messages begin to come, at first and after each outage
 * @param onRefused told when Redis does not let this user subscribe, so that no message will come
 * @returns closes the connection
 */
export function subscribe(
  options: RedisConnectionOptions,
  channel: string,
  onMessage: (message: string) => void,
  onSubscribed: () => void = () => {},
  onRefused: (error: Error) => void = () => {},
): { readonly ready: Promise<void>; close(): void } {
  // ioredis looks after no answer to a subscription of its own: one that a `close` cuts off would end the process.
  const redis = new Redis({ ...options, autoResubscribe: false });
  // The connection beside it, over which the work goes, tells of an outage.
  redis.on("error", () => {});
  redis.on("message", (_, message: string) => onMessage(message));
  let isSubscribed = false;
  const ready = redis.subscribe(channel).then(
    () => {
      isSubscribed = true;
      onSubscribed();
    },
    (error: Error) => {
      // Any other end is that of a connection that was closed before Redis was ever reached.
      if (error.name === "ReplyError") onRefused(error);
    },
  );
  redis.on("ready", () => {
    if (isSubscribed) redis.subscribe(channel).then(onSubscribed, () => {});
  });
  return { ready, close: () => redis.disconnect() };
}
