export { devServicesEnvSchema, readDevServicesEnv } from "./env.ts";
export { type Inbox, type InboxMessage, type InboxOptions, startInbox } from "./inbox.ts";
export { type DevRedis, type DevRedisOptions, startRedis } from "./redis.ts";
