import { createServer } from "node:net";
import { freePort } from "@millrace/dev-services";
import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { useEmptyDatabase } from "../test/use-database.ts";
import { connectDatabase, type Database } from "./connect-database.ts";
import { isDatabaseUnavailable } from "./is-database-unavailable.ts";

const empty = useEmptyDatabase();
const opened: Database[] = [];
afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));

function connect(url: string): Database {
  const database = connectDatabase({ url, poolMax: 1 });
  opened.push(database);
  return database;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return Error.isError(error) && "code" in error && error.code === "EPERM";
  }
}

const errorOf = (question: Promise<unknown>) => question.catch((error: unknown) => error);

test("nobody listens, the name does not resolve, or the connection closes at once: it is away", async () => {
  const rude = createServer((socket) => socket.destroy());
  const port = await freePort();
  await new Promise<void>((listening) => rude.listen(port, "127.0.0.1", listening));
  for (const address of [
    `127.0.0.1:${await freePort()}`,
    "localhost:1",
    "no-such-host.invalid:5432",
    `127.0.0.1:${port}`,
  ]) {
    const error = await errorOf(connect(`postgres://nobody@${address}/nothing`).check());
    expect([address, isDatabaseUnavailable(error)]).toEqual([address, true]);
  }
  rude.close();
});

test("its administrator ends the connection during a query: it is away", async () => {
  const database = connect(empty.url());
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
  const asleep = errorOf(sql`select pg_sleep(20)`.execute(database));
  await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(connect(empty.url()));
  expect(isDatabaseUnavailable(await asleep)).toBe(true);
});

test("the server ends a transaction in which a process that stood still said nothing for too long: it is away", async () => {
  let error: unknown;
  const stoodStill = connect(empty.url()).transaction();
  await stoodStill
    .execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      await sql`set local idle_in_transaction_session_timeout = 20`.execute(transaction);
      // The loop stands until the server has ended its side, and a while where that is on another machine: heard of before, it is another error.
      for (const until = performance.now() + 200; performance.now() < until || isThere(rows[0]?.pid ?? 0); );
      error = await errorOf(sql`select 1`.execute(transaction));
      throw error;
    })
    // The rollback has an error of its own.
    .catch(() => {});
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test("a query that is wrong, or a row that may not be, is no outage", async () => {
  const database = connect(empty.url());
  expect(isDatabaseUnavailable(await errorOf(sql`selct 1`.execute(database)))).toBe(false);
  expect(isDatabaseUnavailable(await errorOf(sql`select 1 / 0`.execute(database)))).toBe(false);
  expect(isDatabaseUnavailable("ECONNREFUSED")).toBe(false);
});
