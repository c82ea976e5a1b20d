/** The database did not answer, or cannot take this now. The worker host knows it by its fields and defers the job without using up an attempt. */
export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
  readonly failureKind = "contention";
  readonly code = "database_unavailable";
}

// By PostgreSQL's classes: connections, resources, shut down or starting, a standby that takes no writes, and a schema that is still to come.
const awayStates = /^(08|53|57P|25006|42P01)/;

/**
 * Settles as `query` does, but for an outage, which is an error of its own: a query that PostgreSQL refuses is wrong and stays so, an outage
 * goes by.
 *
 * @throws DatabaseUnavailableError
 * @throws what else `query` throws, unchanged
 */
export async function whenAvailable<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (cause) {
    if (!isOutage(cause)) throw cause;
    throw new DatabaseUnavailableError("The database does not answer.", { cause });
  }
}

function isOutage(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  // PostgreSQL's own answers have a state of five signs; a broken or refused connection has another code or none.
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (/^[0-9A-Z]{5}$/.test(code)) return awayStates.test(code);
  // A mistake of ours, such as a TypeError, has another name.
  return error.name === "Error" || error.name === "AggregateError";
}
