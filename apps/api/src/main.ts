import { openDatabase } from "@millrace/database";
import { explainListenError } from "@millrace/env";
import { createFileStore } from "@millrace/file-store";
import { closeServices, onShutdownSignal, startProgram } from "@millrace/shutdown";
import { startTracing } from "@millrace/tracing";
import { closeQueues } from "@millrace/worker-config";
import { createApp } from "./app.ts";
import { closeServer } from "./close-server.ts";
import { readSettings, sessionSecretOf } from "./env.ts";
import { openJobFeed } from "./job-feed.ts";
import { openDirectory } from "./open-directory.ts";
import { watchRedis } from "./watch-redis.ts";

const { settings, log } = startProgram("api", readSettings);
const { api: env } = settings;
// Producers report an outage of Redis as a warning of the process; here it joins the log, instead of Node's own text beside it.
process.removeAllListeners("warning");
process.on("warning", (warning) => log.warn({ err: warning }, warning.message));
const { DATABASE_URL, DATABASE_POOL_MAX } = settings.database;
const database = openDatabase({ url: DATABASE_URL, poolMax: DATABASE_POOL_MAX, log });
const files = createFileStore(settings.files);
const feed = openJobFeed(log);
const { directory, close: closeDirectory } = openDirectory(log);
const tracing = await startTracing("millrace-api", log);
const watch = watchRedis();
const app = await createApp({
  isWedged: watch.isWedged,
  tracing,
  apiKeys: env.API_KEYS,
  maxPayloadBytes: settings.queue.QUEUE_MAX_PAYLOAD_BYTES,
  database,
  allowPrivateEndpoints: settings.webhookTarget.WEBHOOK_ALLOW_PRIVATE,
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
const { API_HOST: host, API_PORT: port } = env;
await app.listen({ host, port }).catch((error: unknown) => explainListenError(error, "API_PORT", host, port));
