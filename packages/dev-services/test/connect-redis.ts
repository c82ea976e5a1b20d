import { Redis } from "ioredis";

/** A client that never tries twice: its `end` is the moment at which the server went away. */
export function connectRedis(url: string): Redis {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on("error", () => {});
  return client;
}
