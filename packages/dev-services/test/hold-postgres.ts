/** A program that starts a PostgreSQL, tells its URL and shrugs off a terminal's Ctrl-C, so that a test can end it as it likes. */
import { startPostgres } from "@millrace/dev-services";

process.on("SIGINT", () => {});
const postgres = await startPostgres();
process.stdout.write(`${postgres.url}\n`);
setInterval(() => {}, 60_000);
