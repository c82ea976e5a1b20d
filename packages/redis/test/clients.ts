import { type DevRedis, readDevServicesEnv, startRedis } from "@millrace/dev-services";
import type { Redis } from "ioredis";
import { afterEach } from "vitest";
import { createRedis, type RedisRole } from "../src/index.ts";

const clients: Redis[] = [];
const servers: DevRedis[] = [];

/** A client that goes with the test. Without a URL, of the Redis that all tests share. */
export function connect(role: RedisRole = "worker", url = process.env.REDIS_URL ?? ""): Redis {
  const client = createRedis(role, url, () => {});
  clients.push(client);
  return client;
}

/** A Redis that a test may freeze and kill. Goes with the test. */
export async function ownRedis(port?: number): Promise<DevRedis & { pid: number; port: number }> {
  const redis = await startRedis({ choice: readDevServicesEnv().DEV_REDIS, ...(port !== undefined && { port }) });
  if (redis.pid === undefined) throw new Error("expected a Redis of our own, got a configured one");
  servers.push(redis);
  return { ...redis, pid: redis.pid, port: Number(new URL(redis.url).port) };
}

/** Must be called once in a file that uses `connect` or `ownRedis`. */
export function cleanUpRedis(): void {
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
}

/** What the call was rejected with. Fails where it was not. */
export function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error("expected a rejection, the call succeeded");
    },
    (reason) => reason,
  );
}

/** Resolves with the signal's reason when it aborts. */
export function untilAborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
}

/** Resolves when the client's connection is gone; `once` of Node would reject with the error that comes before. */
export function untilClosed(client: Redis): Promise<void> {
  return new Promise((resolve) => client.once("close", () => resolve()));
}
