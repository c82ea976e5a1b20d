import type { Database } from "@millrace/database";
import type { FileStore } from "@millrace/file-store";
import type { DistributedLock } from "@millrace/redis";
import type { scheduleContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { WorkspaceDirectory } from "@millrace/workspaces";
import { createCleanUpWorkspaces } from "./clean-up-workspaces.ts";
import type { ScheduleEnv } from "./env.ts";
import { createPurgeDeadLetters } from "./purge-dead-letters.ts";
import { createPurgeWebhookDeliveries } from "./purge-webhook-deliveries.ts";
import { createSendDailyDigests } from "./send-daily-digests.ts";
import { createSweepFileStore } from "./sweep-file-store.ts";
import { createSweepQueues } from "./sweep-queues.ts";

/** One entry per action of the contract: the compiler asks for a missing one. */
export function scheduleHandlers(
  distributedLock: DistributedLock,
  directory: WorkspaceDirectory,
  files: FileStore,
  database: Database,
  env: ScheduleEnv,
): HandlersOf<typeof scheduleContract> {
  return {
    purgeDeadLetters: createPurgeDeadLetters(distributedLock, env.DEAD_LETTER_MAX_AGE_DAYS),
    purgeWebhookDeliveries: createPurgeWebhookDeliveries(distributedLock, database, env.WEBHOOK_DELIVERY_MAX_AGE_DAYS),
    sweepFileStore: createSweepFileStore(distributedLock, files),
    sweepQueues: createSweepQueues(distributedLock, env.WAITING_PARENT_MAX_AGE_DAYS),
    sendDailyDigests: createSendDailyDigests(distributedLock, database, directory),
    cleanUpWorkspaces: createCleanUpWorkspaces(distributedLock, directory, database, {
      cleanUpAfterDays: env.WORKSPACE_CLEAN_UP_AFTER_DAYS,
      forgetAfterDays: env.WORKSPACE_FORGET_AFTER_DAYS,
    }),
  };
}
