// https://www.postgresql.org/docs/current/errcodes-appendix.html: connection exceptions, too many connections, shutdowns, starting up,
// and a transaction in which this process, frozen, said nothing for too long.
const sqlStates = /^(08...|53300|57P01|57P02|57P03|25006|25P03)$/;
const networkCodes = /^(ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
// What the driver says in words alone.
const driverMessages =
  /^(timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|The database has not been reached yet)/;

/**
 * Whether a query failed because the database is away, and not because of the query: asking again later can help.
 *
 * @param error whatever a query rejected with
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  if (sqlStates.test(code) || networkCodes.test(code) || driverMessages.test(error.message)) return true;
  // A name with several addresses fails with one error for all of them.
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  return isDatabaseUnavailable(error.cause);
}
