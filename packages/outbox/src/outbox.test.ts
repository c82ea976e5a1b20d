import { randomUUID } from "node:crypto";
import { connectDatabase, type Database, migrateDatabase } from "@millrace/database";
import { createDatabase, type DevRedis, freePort, startRedis } from "@millrace/dev-services";
import { createLogger } from "@millrace/logger";
import { closeQueues, contracts, emailContract, emailQueue } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { addToOutbox } from "./add-to-outbox.ts";
import { publishBatch } from "./publish-batch.ts";
import { type OutboxRelay, startOutboxRelay } from "./start-outbox-relay.ts";

const log = createLogger({ level: "silent" });
const mail = { to: "ada@example.com", subject: "Your order", text: "Thank you." };

let redis: DevRedis;
let made: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
let client: pg.Client;
const relays: OutboxRelay[] = [];

beforeAll(async () => {
  // One of our own, because a test takes it away.
  // It comes back on its port, which nobody else is given meanwhile.
  redis = await startRedis({ port: await freePort() });
  process.env.REDIS_URL = redis.url;
  made = await createDatabase(String(process.env.DATABASE_URL), `outbox-${randomUUID()}`);
  await migrateDatabase(made.url);
  database = connectDatabase({ url: made.url });
  client = new pg.Client({ connectionString: made.url });
  await client.connect();
  await client.query("create table orders (id text)");
});
beforeEach(async () => {
  await client.query("truncate millrace_outbox, orders");
  await emailQueue.obliterate();
});
afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.close())));
afterAll(async () => {
  await client.end();
  await database.close();
  await made.drop();
  await closeQueues();
  await redis.stop();
});

const run = (text: string, values: string[]) => client.query(text, values);

function startRelay(): void {
  relays.push(startOutboxRelay({ database, contracts, log, pollMs: 20 }));
}

/** An order and its mail, in one transaction of the application's own. */
async function placeOrder(end: "commit" | "rollback", options: Parameters<typeof addToOutbox>[4] = {}) {
  await client.query("begin");
  await client.query("insert into orders values ('order')");
  const { jobId } = await addToOutbox(run, emailContract, "sendEmail", mail, options);
  await client.query(end);
  return jobId;
}

const outboxRows = () => database.selectFrom("millrace_outbox").selectAll().execute();
const whenEmpty = () => vi.waitFor(async () => expect(await outboxRows()).toEqual([]), 15_000);

test("a job is enqueued after the commit of what it belongs to, and never after a rollback", async () => {
  startRelay();
  const rolledBack = await placeOrder("rollback");
  const committed = await placeOrder("commit");
  await vi.waitFor(async () => expect(await emailQueue.getJob(committed)).toBeDefined(), 10_000);
  expect((await emailQueue.getJob(committed))?.data).toEqual({ type: "sendEmail", data: mail });
  expect(await emailQueue.getJob(rolledBack)).toBeUndefined();
  await whenEmpty();
});

test("a job whose transaction is still open is not enqueued", async () => {
  await client.query("begin");
  await addToOutbox(run, emailContract, "sendEmail", mail);
  expect(await publishBatch(database, contracts, log)).toMatchObject({ published: 0 });
  await client.query("commit");
  expect(await publishBatch(database, contracts, log)).toMatchObject({ published: 1 });
});

test("a relay that dies after the publishing and before it is noted leaves no job twice", async () => {
  const jobId = await placeOrder("commit");
  await client.query(`create function die() returns trigger language plpgsql as $$ begin raise 'killed'; end $$;
    create trigger die before delete on millrace_outbox for each row execute function die()`);
  await expect(publishBatch(database, contracts, log)).rejects.toThrow("killed");
  expect(await emailQueue.getJob(jobId)).toBeDefined();
  expect(await outboxRows()).toHaveLength(1);

  await client.query("drop trigger die on millrace_outbox; drop function die");
  expect(await publishBatch(database, contracts, log)).toMatchObject({ published: 1 });
  expect(await outboxRows()).toEqual([]);
  expect(await emailQueue.getJobCountByTypes("waiting", "delayed", "prioritized")).toBe(1);
});

test("several relays share the work: every job is enqueued, none is left, none comes twice", async () => {
  for (let count = 0; count < 350; count += 1) await addToOutbox(run, emailContract, "sendEmail", mail);
  const batches = await Promise.all([1, 2, 3].map(() => publishBatch(database, contracts, log)));
  expect(batches.map(({ published }) => published)).toEqual([100, 100, 100]);
  startRelay();
  startRelay();
  await whenEmpty();
  expect(await emailQueue.getJobCountByTypes("waiting")).toBe(350);
});

test("a delay counts from the transaction by the database's clock, and the options come along", async () => {
  const before = Date.now();
  const shifted = vi.spyOn(Date, "now").mockImplementation(() => before + 3_600_000);
  const jobId = await placeOrder("commit", { delayMs: 90_000, attempts: 7, jobId: "order-1-mail" }).finally(() =>
    shifted.mockRestore(),
  );
  // As after half a minute in the outbox.
  await client.query("update millrace_outbox set created_at = created_at - interval '30 seconds'");
  await publishBatch(database, contracts, log);
  const job = await emailQueue.getJob(jobId);
  expect([job?.id, job?.opts.attempts]).toEqual(["order-1-mail", 7]);
  const runsAt = Number(job?.timestamp) + Number(job?.opts.delay);
  expect(runsAt - before).toBeGreaterThanOrEqual(59_900);
  expect(runsAt - before).toBeLessThan(65_000);
});

test("a job that is not valid is refused before it is written, and its transaction goes on", async () => {
  await client.query("begin");
  const wrong = { ...mail, to: "nobody" };
  await expect(addToOutbox(run, emailContract, "sendEmail", wrong)).rejects.toMatchObject({ code: "invalid_data" });
  // @ts-expect-error a key for what is in the queue means nothing before the job is there
  const deduplicated = addToOutbox(run, emailContract, "sendEmail", mail, { dedupe: { key: "k", mode: "drop" } });
  await expect(deduplicated).rejects.toMatchObject({ code: "invalid_options" });
  await client.query("insert into orders values ('order')");
  await client.query("commit");
  expect(await outboxRows()).toEqual([]);
});

test("a row that no queue takes keeps its reason and holds up no other", async () => {
  const insert = "insert into millrace_outbox (queue, action, data, options) values ($1, $2, $3, $4)";
  await client.query(insert, ["fax", "send", "{}", "{}"]);
  await client.query(insert, ["email", "sendFax", "{}", "{}"]);
  await client.query(insert, ["email", "sendEmail", "{broken", "{}"]);
  await placeOrder("commit");
  expect(await publishBatch(database, contracts, log)).toMatchObject({ published: 1, refused: 3 });
  const rows = await outboxRows();
  expect(rows.map(({ refusal }) => refusal)).toEqual([
    expect.stringContaining('no queue "fax"'),
    expect.stringContaining('no action "sendFax"'),
    expect.stringContaining("no JSON"),
  ]);
  for (const row of rows) expect(row.due_at.getTime()).toBeGreaterThan(Date.now() + 30_000);
});

test("a hundred rows whose adding fails as nobody foresaw hold up no other, and their reason holds no payload", async () => {
  const refuse = () => {
    throw new TypeError("MARKER");
  };
  const quota = defineQueue("quota", { broken: { data: z.object({ a: z.string().refine(refuse) }) } });
  await client.query(`insert into millrace_outbox (queue, action, data, options)
    select 'quota', 'broken', '{"a":"MARKER"}', '{}' from generate_series(1, 100)`);
  const jobId = await placeOrder("commit");
  const publish = () => publishBatch(database, { ...contracts, quota }, log);
  expect(await publish()).toEqual({ published: 0, refused: 100, kept: [] });
  expect(await publish()).toEqual({ published: 1, refused: 0, kept: [] });
  expect(await emailQueue.getJob(jobId)).toBeDefined();
  const rows = await outboxRows();
  expect(new Set(rows.map(({ refusal }) => refusal))).toEqual(new Set([expect.stringContaining("TypeError")]));
  expect(rows.map(({ refusal }) => refusal).join()).not.toContain("MARKER");
});

test("while Redis is away jobs wait in the outbox, and are enqueued when it is back", async () => {
  startRelay();
  const port = Number(new URL(redis.url).port);
  await redis.stop();
  const jobId = await placeOrder("commit");
  const [relay] = relays;
  await vi.waitFor(() => expect(relay?.check()).rejects.toThrow("cannot reach their queues"), 10_000);
  expect(await outboxRows()).toHaveLength(1);
  redis = await startRedis({ port });
  await whenEmpty();
  expect(await emailQueue.getJob(jobId)).toBeDefined();
  await relay?.check();
});
