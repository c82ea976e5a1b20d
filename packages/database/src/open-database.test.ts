import { Writable } from "node:stream";
import { createDatabase, freePort, startPostgres } from "@millrace/dev-services";
import { createLogger } from "@millrace/logger";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { useEmptyDatabase } from "../test/use-database.ts";
import { migrateDatabase } from "./migrate-database.ts";
import { openDatabase } from "./open-database.ts";

const empty = useEmptyDatabase();
const silent = createLogger({ level: "silent" });

test("a process that starts before its database is not ready, and is when the database has come and its schema is up to date", async () => {
  const port = await freePort();
  const url = `postgres://millrace:millrace@127.0.0.1:${port}/postgres`;
  const lines: string[] = [];
  const destination = new Writable({ write: (chunk, _, done) => done(void lines.push(String(chunk))) });
  const database = openDatabase({ url, log: createLogger({ level: "info", destination }) });
  await expect(database.check()).rejects.toThrow("has not been reached yet");
  await vi.waitFor(() => expect(lines.join("")).toContain("database_unreachable"), 10_000);

  const server = await startPostgres({ port });
  await vi.waitFor(() => database.check(), 15_000);
  expect(await database.selectFrom("millrace_outbox").selectAll().execute()).toEqual([]);
  expect(lines.join("")).not.toContain("millrace:millrace");
  await database.close();
  await server.stop();
});

test("a schema that cannot be brought up to date is an error, and not tried again", async () => {
  const { url, drop } = await createDatabase(empty.url(), `open-${process.pid}`);
  // What a migration makes is there already, by another's hand.
  await migrateDatabase(url, { "0000-other": "create table millrace_outbox (id int)" });
  const database = openDatabase({ url, log: silent });
  await expect(database.migrated).rejects.toThrow("Migration 0001-outbox failed");
  await expect(database.check()).rejects.toThrow();
  await database.close();
  await drop();
});

test("a server that cuts a migration off in the middle is an outage, and the schema is brought up to date after it", async () => {
  const { url, drop } = await createDatabase(empty.url(), `cut-${process.pid}`);
  await migrateDatabase(url, {});
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query("begin; lock table millrace_migrations in share mode");
  const database = openDatabase({ url, log: silent });
  const cut = `select pg_terminate_backend(pid) from pg_locks where not granted
    and relation = 'millrace_migrations'::regclass and database = (select oid from pg_database where datname = current_database())`;
  await vi.waitFor(async () => expect((await holder.query(cut)).rowCount).toBe(1), 10_000);
  await holder.query("commit");
  await database.migrated;
  await database.check();
  await holder.end();
  await database.close();
  await drop();
});

test("closing ends the attempts to reach a database that never comes", async () => {
  const database = openDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing", log: silent });
  await database.close();
  await database.migrated;
});
