import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "@millrace/logger";
import { connectDatabase, type Database } from "./connect-database.ts";
import { MigrationError, migrateDatabase } from "./migrate-database.ts";

const firstWaitMs = 500;
const longestWaitMs = 10_000;

export interface OpenDatabaseOptions {
  /** As DATABASE_URL. */
  readonly url: string;
  /** As DATABASE_POOL_MAX. */
  readonly poolMax?: number;
  readonly log: Logger;
}

/**
 * The database of a process: brings the schema up to date and hands out the pool at once. A server that is away is tried again until it is
 * there, so that what needs no database works meanwhile; until then `check` rejects, and so do queries.
 *
 * @returns the pool, and `migrated`, which rejects with a MigrationError when the schema cannot be brought up to date; where nobody waits
 *   for it, that ends the process
 */
export function openDatabase({ url, poolMax, log }: OpenDatabaseOptions): Database & { migrated: Promise<void> } {
  const database = connectDatabase({
    url,
    ...(poolMax !== undefined && { poolMax }),
    onConnectionLost: (err) => log.warn({ code: "database_connection_lost", err }, "lost a connection to the database"),
  });
  const closing = new AbortController();
  let isMigrated = false;
  const migrated = migrateUntilThere(url, closing.signal, log).then(() => {
    isMigrated = true;
  });
  return Object.assign(database, {
    migrated,
    check: async () => {
      if (!isMigrated) throw new Error("The database has not been reached yet.");
      await database.selectFrom("millrace_outbox").select("position").limit(1).execute();
    },
    close: async () => {
      closing.abort();
      await database.destroy();
    },
  });
}

async function migrateUntilThere(url: string, closing: AbortSignal, log: Logger): Promise<void> {
  for (let waitMs = firstWaitMs; !closing.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      const names = await migrateDatabase(url);
      if (names.length > 0) log.info({ migrations: names }, "database schema brought up to date");
      return;
    } catch (err) {
      if (err instanceof MigrationError) throw err;
      log.warn({ code: "database_unreachable", err, nextTryMs: waitMs }, "cannot reach the database, trying again");
    }
    // A close ends the wait, which is then no error.
    await wait(waitMs, undefined, { signal: closing }).catch(() => {});
  }
}
