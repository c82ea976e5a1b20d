import type { Logger } from "@millrace/logger";
import { createRedis, readRedisEnv } from "@millrace/redis";
import { readQueueEnv } from "@millrace/worker-config";
import { createWorkspaceDirectory, type WorkspaceDirectory } from "@millrace/workspaces";

/** The directory of workspaces and owners, on a connection that tells its caller at once when Redis is away. */
export function openDirectory(log: Logger): { readonly directory: WorkspaceDirectory; close(): void } {
  const onOutage = (err: Error) =>
    log.warn({ code: "directory_unreachable", err }, "cannot reach the directory, trying again");
  const redis = createRedis("producer", readRedisEnv().REDIS_URL, onOutage);
  return {
    directory: createWorkspaceDirectory({ redis, prefix: readQueueEnv().QUEUE_PREFIX }),
    close: () => redis.disconnect(),
  };
}
