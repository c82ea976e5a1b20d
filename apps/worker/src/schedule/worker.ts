import { createFileStore, readFileStoreSettings } from "@millrace/file-store";
import { getChildLogger } from "@millrace/logger";
import { createDistributedLock, createRedis, readRedisEnv } from "@millrace/redis";
import { createScheduler } from "@millrace/schedules";
import { getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { scheduleContract } from "@millrace/worker-config/contracts";
import { runWorker } from "@millrace/worker-host";
import { createWorkspaceDirectory, watchWorkspaces } from "@millrace/workspaces";
import { readScheduleEnv } from "./env.ts";
import { scheduleHandlers } from "./handlers.ts";
import { codeSchedules } from "./schedules.ts";

const env = readScheduleEnv();
const log = getChildLogger("schedules");
const prefix = readQueueEnv().QUEUE_PREFIX;
// The worker beside them tells of an outage.
const redis = createRedis("worker", readRedisEnv().REDIS_URL, () => {});
const workspaces = watchWorkspaces({ connection: getRedisConnection("worker"), prefix });
const files = createFileStore(readFileStoreSettings());
const scheduler = createScheduler({ schedules: codeSchedules, log, workspaces });
const handlers = scheduleHandlers(
  createDistributedLock({ redis, prefix }),
  createWorkspaceDirectory({ redis, prefix }),
  files,
  env,
);

await runWorker(scheduleContract, handlers, {
  schedules: {
    ...scheduler,
    close: async () => {
      await scheduler.close();
      workspaces.close();
      redis.disconnect();
      await files.close();
    },
  },
});
