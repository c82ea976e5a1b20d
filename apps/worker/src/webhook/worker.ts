import { openDatabase } from "@millrace/database";
import { createRedis } from "@millrace/redis";
import { createSafeClient } from "@millrace/safe-http";
import { startProgram } from "@millrace/shutdown";
import { webhookContract } from "@millrace/worker-config/contracts";
import { runWorker } from "@millrace/worker-host";
import { readSettings } from "./env.ts";
import { webhookHandlers } from "./handlers.ts";
import { createHostLimits } from "./host-limits.ts";

const { settings, log } = startProgram("worker:webhook", readSettings);
const { webhook: env } = settings;
const { DATABASE_URL: url, DATABASE_POOL_MAX: poolMax } = settings.database;
const database = openDatabase({ url, poolMax, log });
// It fails at once during an outage, and the job is put off.
const redis = createRedis("producer", settings.redis.REDIS_URL, (err) =>
  log.warn({ code: "limits_unreachable", err }, "cannot ask for the limits per host, trying again"),
);
const hostLimits = createHostLimits({
  redis,
  prefix: settings.queue.QUEUE_PREFIX,
  concurrency: env.WEBHOOK_HOST_CONCURRENCY,
  perSecond: env.WEBHOOK_HOST_RATE_PER_SECOND,
});
const handlers = webhookHandlers({
  database,
  request: createSafeClient({ allowPrivate: env.WEBHOOK_ALLOW_PRIVATE }),
  hostLimits,
  timeoutMs: env.WEBHOOK_TIMEOUT_MS,
  pauseAfterMs: env.WEBHOOK_PAUSE_AFTER_MS,
});
await runWorker(webhookContract, handlers, {
  database,
  limits: { check: () => redis.ping(), close: async () => redis.disconnect() },
});
