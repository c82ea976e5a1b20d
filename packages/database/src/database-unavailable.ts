import { isDatabaseUnavailable } from "./is-database-unavailable.ts";

/** The database is away. The worker host knows it by its fields and defers the job without using up an attempt. */
export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
  readonly failureKind = "contention";
  readonly code = "database_unavailable";
}

// A worker takes jobs while its database, or the schema in it, is still to come: a table, or a column of one that is there since an older version.
const isStillToCome = /^(42P01|42703)$/;

/**
 * For handlers: settles as `query` does, but for an outage, which is no failure of the job.
 *
 * @throws DatabaseUnavailableError
 * @throws what else `query` throws, unchanged
 */
export async function whenAvailable<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (cause) {
    const isToCome = Error.isError(cause) && "code" in cause && isStillToCome.test(String(cause.code));
    if (!isToCome && !isDatabaseUnavailable(cause)) throw cause;
    throw new DatabaseUnavailableError("The database does not answer.", { cause });
  }
}
