import { openDatabase, readDatabaseEnv } from "@millrace/database";
import { createFileStore, readFileStoreSettings } from "@millrace/file-store";
import { getChildLogger } from "@millrace/logger";
import { closeServices, onShutdownSignal } from "@millrace/shutdown";
import { startTracing } from "@millrace/tracing";
import { closeQueues, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { createApp } from "./app.ts";
import { closeServer } from "./close-server.ts";
import { readApiEnv, readWebhookTargetEnv, sessionSecretOf } from "./env.ts";
import { openJobFeed } from "./job-feed.ts";
import { openDirectory } from "./open-directory.ts";
import { watchRedis } from "./watch-redis.ts";

const log = getChildLogger("api");
const env = readApiEnv();
// Read for its refusal: a start with a missing or malformed REDIS_URL ends here, not at the first request.
getRedisConnection("producer");
// Producers report an outage of Redis as a warning of the process; here it joins the log, instead of Node's own text beside it.
process.removeAllListeners("warning");
process.on("warning", (warning) => log.warn({ err: warning }, warning.message));
const { DATABASE_URL, DATABASE_POOL_MAX } = readDatabaseEnv();
const database = openDatabase({ url: DATABASE_URL, poolMax: DATABASE_POOL_MAX, log });
const files = createFileStore(readFileStoreSettings());
const feed = openJobFeed(log);
const { directory, close: closeDirectory } = openDirectory(log);
const { WEBHOOK_ALLOW_PRIVATE: allowPrivateEndpoints } = readWebhookTargetEnv();
const tracing = await startTracing("millrace-api", log);
const watch = watchRedis();
const app = await createApp({
  isWedged: watch.isWedged,
  tracing,
  apiKeys: env.API_KEYS,
  maxPayloadBytes: readQueueEnv().QUEUE_MAX_PAYLOAD_BYTES,
  database,
  allowPrivateEndpoints,
  scheduleLimits: { minIntervalMs: env.SCHEDULE_MIN_INTERVAL_MS, maxPerWorkspace: env.SCHEDULE_MAX_PER_WORKSPACE },
  files,
  queueLimits: { maxDepth: env.HEALTH_MAX_QUEUE_DEPTH, maxDeadLetters: env.HEALTH_MAX_DEAD_LETTERS },
  feed,
  directory,
  hstsSeconds: env.API_HSTS_SECONDS,
  auditKeepDays: env.AUDIT_KEEP_DAYS,
  maxWrongKeys: env.API_MAX_WRONG_KEYS,
  sessionSecret: sessionSecretOf(env),
  isProduction: env.NODE_ENV === "production",
  trustProxy: env.API_TRUST_PROXY,
  log,
});
onShutdownSignal(log, async () => {
  // No new request, those under way to their end or to their deadline, then what they used.
  await closeServer(app, env.API_SHUTDOWN_GRACE_MS, log);
  watch.close();
  feed.close();
  closeDirectory();
  await closeServices({ queues: { close: closeQueues }, files, database, ...(tracing && { tracing }) }, log);
});
await app.listen({ host: env.API_HOST, port: env.API_PORT });
