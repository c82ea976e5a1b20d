export { connectDatabase, type Database, type DatabaseOptions } from "./connect-database.ts";
export { DatabaseUnavailableError, whenAvailable } from "./database-unavailable.ts";
export { databaseEnvSchema, readDatabaseEnv } from "./env.ts";
export { isDatabaseUnavailable } from "./is-database-unavailable.ts";
export { MigrationError, migrateDatabase } from "./migrate-database.ts";
export { outbox as outboxTableSql } from "./migrations/0001-outbox.ts";
export { type OpenDatabaseOptions, openDatabase } from "./open-database.ts";
export type { OutboxTable, Tables, WebhookDeliveriesTable, WebhookEndpointsTable } from "./tables.ts";
export {
  beginWebhookDelivery,
  findWebhookDelivery,
  listWebhookDeliveries,
  type NewWebhookDelivery,
  purgeWebhookDeliveries,
  recordWebhookAttempt,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookDeliveryStatus,
} from "./webhook-deliveries.ts";
export { moveWebhookEndpoint, recordWebhookFailure, recordWebhookSuccess } from "./webhook-endpoint-health.ts";
export {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  findWebhookEndpoint,
  listWebhookEndpoints,
  listWebhookSubscribers,
  type NewWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointState,
} from "./webhook-endpoints.ts";
