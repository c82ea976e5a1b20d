import { Writable } from "node:stream";
import { createDatabase, freePort, startPostgres } from "@millrace/dev-services";
import { createLogger } from "@millrace/logger";
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
  await vi.waitFor(() => expect(lines.join("")).toContain("database_unreachable"));

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

test("closing ends the attempts to reach a database that never comes", async () => {
  const database = openDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing", log: silent });
  await database.close();
  await database.migrated;
});
