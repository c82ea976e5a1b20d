export { type DemoModel, type DemoModelOptions, startDemoModel } from "./demo-model.ts";
export { devServicesEnvSchema, readDevServicesEnv } from "./env.ts";
export { freePort } from "./free-port.ts";
export { type Inbox, type InboxMessage, type InboxOptions, startInbox } from "./inbox.ts";
export { createDatabase, type DevPostgres, startPostgres } from "./postgres.ts";
export type { ReceivedWebhook } from "./received-webhook.ts";
export { type Receiver, type ReceiverOptions, startReceiver } from "./receiver.ts";
export { type DevRedis, type DevRedisOptions, startRedis } from "./redis.ts";
