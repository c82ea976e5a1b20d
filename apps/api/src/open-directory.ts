import type { Logger } from "@millrace/logger";
import { createRedis, readRedisEnv } from "@millrace/redis";
import { readQueueEnv } from "@millrace/worker-config";
import { createWorkspaceDirectory, type WorkspaceDirectory } from "@millrace/workspaces";

/** What an operator tells the directory of workspaces. */
export type OwnerDirectory = Pick<WorkspaceDirectory, "blockOwner" | "unblockOwner">;

/**
 * The directory, on a connection that is made when somebody first tells it something. It waits for Redis: the request's own time ends that,
 * and a change that is made after it was what the operator asked for.
 */
export function openDirectory(log: Logger): { readonly directory: OwnerDirectory; close(): void } {
  let redis: ReturnType<typeof createRedis> | undefined;
  const onOutage = (err: Error) =>
    log.warn({ code: "directory_unreachable", err }, "cannot reach the directory, trying again");
  const open = () => {
    redis ??= createRedis("worker", readRedisEnv().REDIS_URL, onOutage);
    return createWorkspaceDirectory({ redis, prefix: readQueueEnv().QUEUE_PREFIX });
  };
  return {
    directory: {
      blockOwner: async (ownerId) => open().blockOwner(ownerId),
      unblockOwner: async (ownerId) => open().unblockOwner(ownerId),
    },
    close: () => redis?.disconnect(),
  };
}
