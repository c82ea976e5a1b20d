import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { giveUpSilent } from "./give-up-silent.ts";
import type { Tables } from "./tables.ts";

/** A pool of connections, with the tables' types for queries. Opens its first connection with the first query. */
export interface Database extends Kysely<Tables> {
  /** Resolves while the server answers. */
  check(): Promise<void>;
  /** Waits for the queries under way and closes every connection. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** As DATABASE_URL. */
  readonly url: string;
  /** The most connections that this process opens. Defaults to 10: with twenty processes two hundred, and PostgreSQL's own default is a hundred. */
  readonly poolMax?: number;
  /** How long a statement may take, in milliseconds. Defaults to 15,000. */
  readonly statementTimeoutMs?: number;
  /** Called when an idle connection breaks, as at a restart of the server; the pool opens another at the next query. */
  readonly onConnectionLost?: (error: Error) => void;
}

// A handler that waits for the database is better told so within its own timeout.
const connectWithinMs = 5_000;
// No query of ours is long; one that hangs would keep a connection, and at the end the whole pool.
const defaultStatementTimeoutMs = 15_000;
// A process that hangs, or whose machine is gone, within a transaction would hold its rows for ever. The longest of ours waits for Redis, some
// seconds.
const idleInTransactionTimeoutMs = 60_000;

/** Connects to PostgreSQL. Opens nothing before the first query, and never throws for a server that is away: the query does. */
export function connectDatabase({
  url,
  poolMax = 10,
  statementTimeoutMs = defaultStatementTimeoutMs,
  onConnectionLost,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    connectionTimeoutMillis: connectWithinMs,
    statement_timeout: statementTimeoutMs,
    // The server ends a statement at its time; this ends the wait where the server is gone without a word.
    query_timeout: statementTimeoutMs + 1_000,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    application_name: "millrace",
    keepAlive: true,
  });
  // Without a listener a broken idle connection would end the process.
  pool.on("error", (error) => onConnectionLost?.(error));
  // So would one that is in use and breaks between two statements of a transaction. The next statement says so.
  pool.on("connect", (client) => client.on("error", () => {}));
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: giveUpSilent(pool) }) });
  return Object.assign(kysely, {
    check: async () => {
      await sql`select 1`.execute(kysely);
    },
    close: () => kysely.destroy(),
  });
}
