import { StartError } from "@millrace/env";
import pg from "pg";
import { isDatabaseUnavailable } from "./is-database-unavailable.ts";
import { migrations } from "./migrations/index.ts";

/** A migration failed and left the schema as it was; the cause says why. */
export class MigrationError extends StartError {
  override readonly name = "MigrationError";
}

// Any number, as long as nobody else uses it: processes that start together take turns by it.
const lockId = 4_706_311_120;
const connectWithinMs = 10_000;
// One that is frozen, or whose machine is gone, would keep its turn, and every other process from its start, for as long as TCP takes to notice: two hours.
const idleInTransactionTimeoutMs = 60_000;

/**
 * Brings the schema up to date: runs what this database has not seen, in order, each once, in one transaction under a lock over all
 * processes. A database that is ahead, because a newer process started first, is left as it is: migrations only add. (A library's
 * migrator would refuse such a start, and with it every restart of an old process during a deploy.)
 *
 * @param url as DATABASE_URL; a connection of its own, since a migration may take longer than a query may elsewhere
 * @returns the names of the migrations that ran
 * @throws MigrationError when one fails; then none of them has happened
 * @throws what the driver throws where the server is away, or goes away meanwhile; then none of them has happened either
 */
export async function migrateDatabase(
  url: string,
  known: Readonly<Record<string, string>> = migrations,
): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectWithinMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    keepAlive: true,
  });
  // One that breaks later than the last answer would be an error that nobody catches.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [lockId]);
    await client.query(`create table if not exists millrace_migrations (
      name text primary key, applied_at timestamptz not null default now())`);
    const { rows } = await client.query<{ name: string }>("select name from millrace_migrations");
    const done = new Set(rows.map(({ name }) => name));
    const missing = Object.entries(known).filter(([name]) => !done.has(name));
    for (const [name, statements] of missing) await run(client, name, statements);
    await client.query("commit");
    return missing.map(([name]) => name);
  } finally {
    // Takes back what was not committed.
    await client.end();
  }
}

async function run(client: pg.Client, name: string, statements: string): Promise<void> {
  try {
    await client.query(statements);
    await client.query("insert into millrace_migrations (name) values ($1)", [name]);
  } catch (cause) {
    // A server that goes away in the middle has taken the transaction back, and says nothing of the migration.
    if (isDatabaseUnavailable(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new MigrationError(`Migration ${name} failed, and the schema is as it was before: ${why}.`, { cause });
  }
}
