export { connectDatabase, type Database, type DatabaseOptions } from "./connect-database.ts";
export { databaseEnvSchema, readDatabaseEnv } from "./env.ts";
export { isDatabaseUnavailable } from "./is-database-unavailable.ts";
export { MigrationError, migrateDatabase } from "./migrate-database.ts";
export { outbox as outboxTableSql } from "./migrations/0001-outbox.ts";
export { type OpenDatabaseOptions, openDatabase } from "./open-database.ts";
export type { OutboxTable, Tables } from "./tables.ts";
