import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";

/**
 * A pool that gives up a connection with the statement that had no answer on it in time. The driver hands it out again, and behind that statement
 * every other one, and the rollback of its own transaction before all, waits as long, and in vain: where a server is gone without a word, until TCP gives up after a quarter of an hour, though another one
 * has long taken its place.
 */
export function giveUpSilent(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      let silence: Error | undefined;
      const query = async (text: string, values: unknown[]) => {
        if (silence) throw silence;
        try {
          return await client.query(text, values);
        } catch (error) {
          if (Error.isError(error) && error.message === "Query read timeout") silence = error;
          throw error;
        }
      };
      return {
        // Its other overload takes a cursor, which this dialect is not given, and its rows are what the caller says.
        query: query as unknown as PostgresPoolClient["query"],
        release: (isDiscarded = false) => client.release(isDiscarded || silence),
      };
    },
  };
}
