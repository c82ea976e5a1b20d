import { once } from "node:events";
import { type AddressInfo, createServer, connect as openConnection, type Socket } from "node:net";
import { sql } from "kysely";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { useEmptyDatabase } from "../test/use-database.ts";
import { connectDatabase, type Database } from "./connect-database.ts";
import { isDatabaseUnavailable } from "./is-database-unavailable.ts";

const empty = useEmptyDatabase();
const opened: Database[] = [];
afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));

function connect(options: Partial<Parameters<typeof connectDatabase>[0]> = {}): Database {
  const database = connectDatabase({ url: empty.url(), ...options });
  opened.push(database);
  return database;
}

test("connecting opens nothing, and a server that is away is the query's error", async () => {
  const database = connect({ url: "postgres://nobody:secret@127.0.0.1:1/nothing" });
  const error = await database.check().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
  expect(String(error)).not.toContain("secret");
});

test("a process opens no more connections than its pool allows", async () => {
  const database = connect({ poolMax: 3 });
  const name = `bounded-${process.pid}`;
  await Promise.all(
    Array.from({ length: 30 }, () => sql`select set_config('application_name', ${name}, false)`.execute(database)),
  );
  const { rows } = await sql<{ count: string }>`select count(*) from pg_stat_activity
    where application_name = ${name}`.execute(database);
  expect(Number(rows[0]?.count)).toBeLessThanOrEqual(3);
});

test("a transaction in which nothing happens holds its rows for a minute and no longer", async () => {
  const { rows } = await sql`show idle_in_transaction_session_timeout`.execute(connect());
  expect(rows).toEqual([{ idle_in_transaction_session_timeout: "1min" }]);
});

test("a connection that is cut while idle is told, and the next query has another", async () => {
  const lost = Promise.withResolvers<Error>();
  const database = connect({ poolMax: 1, onConnectionLost: lost.resolve });
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
  await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(connect());
  expect((await lost.promise).message).toMatch(/terminat/);
  await database.check();
});

// Where nobody listens the connection's error is one that nobody caught, which ends the process.
test("a connection that is cut between two statements of a transaction is the next one's error, and an outage", async () => {
  const [database, administrator] = [connect({ poolMax: 1 }), connect()];
  const cut = database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
    const isThere = sql`select pg_terminate_backend(pid) from pg_stat_activity where pid = ${rows[0]?.pid}`;
    await expect.poll(async () => (await isThere.execute(administrator)).rows).toEqual([]);
    await sql`select 1`.execute(transaction);
  });
  expect(isDatabaseUnavailable(await cut.catch((error: unknown) => error))).toBe(true);
  await database.check();
});

/** The way to the database over one that can lose what is sent on the connections there are, as a server does that is gone without a word. */
async function startLossyWay(): Promise<{ url: string; loseConnections(): void }> {
  const { hostname, port } = new URL(empty.url());
  const ends: Socket[] = [];
  const way = createServer((near) => {
    const far = openConnection(Number(port), hostname);
    for (const end of [near, far]) end.on("error", () => {});
    near.pipe(far).pipe(near);
    ends.push(near, far);
  }).listen(0, "127.0.0.1");
  await once(way, "listening");
  onTestFinished(() => {
    way.close();
    for (const end of ends) end.destroy();
  });
  const url = new URL(empty.url());
  // A server that listens on host and port has an address of this form.
  url.host = `127.0.0.1:${(way.address() as AddressInfo).port}`;
  return { url: url.href, loseConnections: () => ends.forEach((end) => void end.unpipe().resume()) };
}

test("where a server is gone without a word, one statement has no answer, and the next has another connection", async () => {
  const { url, loseConnections } = await startLossyWay();
  const database = connect({ url, poolMax: 1, statementTimeoutMs: 100 });
  await database.check();
  loseConnections();
  expect(isDatabaseUnavailable(await database.check().catch((error: unknown) => error))).toBe(true);
  await database.check();
});

test("nor does a transaction wait for the answer to its rollback, which is sent behind that statement", async () => {
  const { url, loseConnections } = await startLossyWay();
  const database = connect({ url, poolMax: 1, statementTimeoutMs: 100 });
  let [unanswered, failedAt] = [undefined as unknown, 0];
  const lost = database.transaction().execute(async (transaction) => {
    await sql`select 1`.execute(transaction);
    loseConnections();
    unanswered = await sql`select 1`.execute(transaction).catch((error: unknown) => error);
    failedAt = performance.now();
    throw unanswered;
  });
  expect(await lost.catch((error: unknown) => error)).toBe(unanswered);
  expect(performance.now() - failedAt).toBeLessThan(1_000);
  await database.check();
});
