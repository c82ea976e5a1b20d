import { openDatabase, readDatabaseEnv } from "@millrace/database";
import { createFileStore, readFileStoreSettings } from "@millrace/file-store";
import { getChildLogger } from "@millrace/logger";
import { createScheduleMetrics } from "@millrace/metrics";
import { startOutboxRelay } from "@millrace/outbox";
import { createDistributedLock, createRedis, readRedisEnv } from "@millrace/redis";
import { createScheduler } from "@millrace/schedules";
import { contracts, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
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
const { DATABASE_URL, DATABASE_POOL_MAX } = readDatabaseEnv();
const database = openDatabase({ url: DATABASE_URL, poolMax: DATABASE_POOL_MAX, log });
const files = createFileStore(readFileStoreSettings());
const metrics = createScheduleMetrics();
const scheduler = createScheduler({ schedules: codeSchedules, log, workspaces, onRuns: metrics.ran });
const handlers = scheduleHandlers(
  createDistributedLock({ redis, prefix }),
  createWorkspaceDirectory({ redis, prefix }),
  files,
  database,
  env,
);

const services = {
  schedules: {
    ...scheduler,
    close: async () => {
      await scheduler.close();
      workspaces.close();
      redis.disconnect();
    },
  },
  outbox: startOutboxRelay({ database, contracts, log: getChildLogger("outbox"), after: database.migrated }),
  files,
  database,
};
await runWorker(scheduleContract, handlers, services, { metrics: metrics.registerIn });
