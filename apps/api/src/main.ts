import { openDatabase, readDatabaseEnv } from "@millrace/database";
import { getChildLogger } from "@millrace/logger";
import { onShutdownSignal } from "@millrace/shutdown";
import { closeQueues, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { createApp } from "./app.ts";
import { readApiEnv, readWebhookTargetEnv } from "./env.ts";

const log = getChildLogger("api");
const env = readApiEnv();
// Read for its refusal: a start with a missing or malformed REDIS_URL ends here, not at the first request.
getRedisConnection("producer");
// Producers report an outage of Redis as a warning of the process; here it joins the log, instead of Node's own text beside it.
process.removeAllListeners("warning");
process.on("warning", (warning) => log.warn({ err: warning }, warning.message));
const { WEBHOOK_ALLOW_PRIVATE: allowPrivateEndpoints } = readWebhookTargetEnv();
const { DATABASE_URL: url, DATABASE_POOL_MAX: poolMax } = readDatabaseEnv();
const database = openDatabase({ url, poolMax, log });
const app = await createApp({
  apiKeys: env.API_KEYS,
  maxPayloadBytes: readQueueEnv().QUEUE_MAX_PAYLOAD_BYTES,
  database,
  allowPrivateEndpoints,
  log,
});
onShutdownSignal(log, async () => {
  // No new request, those under way to their end, then their queues and the database.
  await app.close();
  await closeQueues();
  await database.close();
});
await app.listen({ host: env.API_HOST, port: env.API_PORT });
