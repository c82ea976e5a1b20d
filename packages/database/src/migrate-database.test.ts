import { createDatabase } from "@millrace/dev-services";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readDatabaseEnv } from "./env.ts";
import { migrateDatabase } from "./migrate-database.ts";

const first = { "0001-a": "create table a (id int); insert into a values (1)" };
const second = { ...first, "0002-b": "create table b (id int); insert into b select id + 1 from a" };

let database: Awaited<ReturnType<typeof createDatabase>>;
let count = 0;
beforeEach(async () => {
  count += 1;
  database = await createDatabase(readDatabaseEnv().DATABASE_URL, `migrate-${process.pid}-${count}`);
});
afterEach(() => database.drop());

async function ask(question: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(question)).rows;
  } finally {
    await client.end();
  }
}

test("each migration runs once, in order, however often a process starts", async () => {
  expect(await migrateDatabase(database.url, first)).toEqual(["0001-a"]);
  expect(await migrateDatabase(database.url, second)).toEqual(["0002-b"]);
  expect(await migrateDatabase(database.url, second)).toEqual([]);
  expect(await ask("select id from b")).toEqual([{ id: 2 }]);
});

test("ten processes that start at once run each migration once", async () => {
  const runs = await Promise.all(Array.from({ length: 10 }, () => migrateDatabase(database.url, second)));
  expect(runs.flat().sort()).toEqual(["0001-a", "0002-b"]);
  expect(await ask("select id from a")).toEqual([{ id: 1 }]);
});

test("a process that is frozen, or whose machine is gone, in the middle of its migrations keeps others from theirs for a minute and no longer", async () => {
  const limit = "idle_in_transaction_session_timeout";
  await migrateDatabase(database.url, { "0001-a": `create table a as select current_setting('${limit}') as "limit"` });
  expect(await ask('select "limit" from a')).toEqual([{ limit: "1min" }]);
});

test("one that fails says which and why, and none of its start has happened", async () => {
  const broken = { ...second, "0003-c": "create table c (id int); create table c (id int)" };
  await expect(migrateDatabase(database.url, broken)).rejects.toThrow(
    'Migration 0003-c failed, and the schema is as it was before: relation "c" already exists.',
  );
  expect(await ask("select table_name from information_schema.tables where table_schema = 'public'")).toEqual([]);
  expect(await migrateDatabase(database.url, second)).toEqual(["0001-a", "0002-b"]);
});

test("an older process starts beside a newer schema", async () => {
  await migrateDatabase(database.url, second);
  expect(await migrateDatabase(database.url, first)).toEqual([]);
});

test("the schema of this version can be made from nothing", async () => {
  expect((await migrateDatabase(database.url)).length).toBeGreaterThan(0);
  expect(await migrateDatabase(database.url)).toEqual([]);
});
