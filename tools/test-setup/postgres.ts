import { readDevServicesEnv, startPostgres } from "@millrace/dev-services";

/** One PostgreSQL for the whole run; a test file that needs it makes a database of its own there. */
export default async function setup(): Promise<() => Promise<void>> {
  const postgres = await startPostgres({ databaseUrl: readDevServicesEnv().DATABASE_URL });
  process.stdout.write(`PostgreSQL for the tests: ${postgres.reason}\n`);
  process.env.DATABASE_URL = postgres.url;
  return postgres.stop;
}
