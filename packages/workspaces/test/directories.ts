import { randomUUID } from "node:crypto";
import { createRedis, redisConnectionOptions } from "@millrace/redis";
import { afterEach } from "vitest";
import {
  createWorkspaceDirectory,
  type WatchOptions,
  type WorkspaceDirectory,
  type WorkspaceWatch,
  watchWorkspaces,
} from "../src/index.ts";

const cleanUps: (() => unknown)[] = [];

/** Must be called once in a file that opens anything here. */
export function cleanUp(): void {
  afterEach(async () => {
    for (const end of cleanUps.splice(0).reverse()) await end();
  });
}

export function onCleanUp(end: () => unknown): void {
  cleanUps.push(end);
}

/** Keys of its own for a test. */
export const freshPrefix = () => `{test-${randomUUID()}}`;

/** The application's side. What it is told waits for Redis. */
export function openDirectory(prefix: string, url = process.env.REDIS_URL ?? ""): WorkspaceDirectory {
  const redis = createRedis("worker", url, () => {});
  cleanUps.push(() => redis.disconnect());
  return createWorkspaceDirectory({ redis, prefix });
}

/** A worker's side. */
export function openWatch(
  prefix: string,
  url = process.env.REDIS_URL ?? "",
  onOutage?: WatchOptions["onOutage"],
): WorkspaceWatch {
  const connection = redisConnectionOptions("worker", url);
  const watch = watchWorkspaces({ connection, prefix, ...(onOutage && { onOutage }) });
  cleanUps.push(() => watch.close());
  return watch;
}
