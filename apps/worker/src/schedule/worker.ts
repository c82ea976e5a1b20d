import { openDatabase } from "@millrace/database";
import { createFileStore } from "@millrace/file-store";
import { getChildLogger } from "@millrace/logger";
import { createScheduleMetrics } from "@millrace/metrics";
import { startOutboxRelay } from "@millrace/outbox";
import { createDistributedLock, createRedis } from "@millrace/redis";
import { createScheduler } from "@millrace/schedules";
import { startProgram } from "@millrace/shutdown";
import { contracts, getRedisConnection } from "@millrace/worker-config";
import { scheduleContract } from "@millrace/worker-config/contracts";
import { runWorker } from "@millrace/worker-host";
import { createWorkspaceDirectory, watchWorkspaces } from "@millrace/workspaces";
import { readSettings } from "./env.ts";
import { scheduleHandlers } from "./handlers.ts";
import { codeSchedules } from "./schedules.ts";

const { settings } = startProgram("worker:schedule", readSettings);
const log = getChildLogger("schedules");
const prefix = settings.queue.QUEUE_PREFIX;
// The worker beside them tells of an outage.
const redis = createRedis("worker", settings.redis.REDIS_URL, () => {});
const workspaces = watchWorkspaces({ connection: getRedisConnection("worker"), prefix });
const { DATABASE_URL, DATABASE_POOL_MAX } = settings.database;
const database = openDatabase({ url: DATABASE_URL, poolMax: DATABASE_POOL_MAX, log });
const files = createFileStore(settings.files);
const metrics = createScheduleMetrics();
const scheduler = createScheduler({ schedules: codeSchedules, log, workspaces, onRuns: metrics.ran });
const handlers = scheduleHandlers(
  createDistributedLock({ redis, prefix }),
  createWorkspaceDirectory({ redis, prefix }),
  files,
  database,
  settings.schedule,
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
