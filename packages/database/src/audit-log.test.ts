import { sql } from "kysely";
import { expect, test } from "vitest";
import { useDatabase } from "../test/use-database.ts";
import { beginAuditEntry, endAuditEntry, listAuditEntries, type NewAuditEntry } from "./audit-log.ts";

const { database } = useDatabase();
const keep = { keepDays: 365 };
const entry: NewAuditEntry = {
  keyId: "key-1",
  keyName: "Ada",
  action: "job.cancel",
  target: { queue: "email", jobId: "a\0b" },
  requestId: "request-1",
};

test("an entry is there before it has ended, and then says how", async () => {
  const id = await beginAuditEntry(database(), entry, keep);
  const [begun] = await listAuditEntries(database(), { limit: 1 });
  expect(begun).toMatchObject({ id, ...entry, at: expect.any(Date), outcome: undefined, details: {} });
  await endAuditEntry(database(), id, { outcome: "refused", status: 409, details: { children: 2 } });
  const [ended] = await listAuditEntries(database(), { limit: 1 });
  expect(ended).toMatchObject({ id, outcome: "refused", status: 409, details: { children: 2 } });
});

test("entries are listed newest first, page by page, by key and by action", async () => {
  for (const keyId of ["key-2", "key-3", "key-2"]) {
    await beginAuditEntry(database(), { ...entry, keyId, action: "queue.pause" }, keep);
  }
  const first = await listAuditEntries(database(), { limit: 1, keyId: "key-2" });
  const rest = await listAuditEntries(database(), { limit: 9, keyId: "key-2", before: first[0]?.id });
  expect([first.length, rest.length]).toEqual([1, 1]);
  expect(Number(first[0]?.id)).toBeGreaterThan(Number(rest[0]?.id));
  expect(await listAuditEntries(database(), { limit: 9, action: "queue.pause" })).toHaveLength(3);
});

test("a row that somebody damaged hides no other", async () => {
  const damaged = await beginAuditEntry(database(), { ...entry, action: "job.remove" }, keep);
  await beginAuditEntry(database(), { ...entry, action: "job.remove" }, keep);
  await sql`update audit_log set target = '{', details = 'null' where id = ${damaged}`.execute(database());
  const entries = await listAuditEntries(database(), { limit: 9, action: "job.remove" });
  expect(entries).toMatchObject([{ target: entry.target }, { id: damaged, target: {}, details: {} }]);
});

test("a filter is read by an index of its own, however many rows others left", async () => {
  await sql`insert into audit_log (key_id, key_name, action, target, request_id)
    select 'key-' || n, '', 'action-' || n % 100, '{}', '' from generate_series(1, 5000) n`.execute(database());
  await sql`analyze audit_log`.execute(database());
  const plan = async (where: string) => {
    const { rows } =
      await sql`explain select * from audit_log where ${sql.raw(where)} and id < 9000 order by id desc limit 50`.execute(
        database(),
      );
    return JSON.stringify(rows);
  };
  expect(await plan("action = 'rare.one'")).toContain("audit_log_by_action");
  expect(await plan("key_id = 'key-7'")).toContain("audit_log_by_key");
});

test("what is older than it is to be kept goes as new entries come", async () => {
  const old = await beginAuditEntry(database(), { ...entry, action: "old.one" }, keep);
  await sql`update audit_log set at = now() - interval '31 days' where id = ${old}`.execute(database());
  await beginAuditEntry(database(), entry, { keepDays: 32 });
  expect(await listAuditEntries(database(), { limit: 9, action: "old.one" })).toHaveLength(1);
  await beginAuditEntry(database(), entry, { keepDays: 30 });
  expect(await listAuditEntries(database(), { limit: 9, action: "old.one" })).toEqual([]);
});
