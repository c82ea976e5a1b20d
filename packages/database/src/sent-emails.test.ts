import { sql } from "kysely";
import { expect, test } from "vitest";
import { useDatabase } from "../test/use-database.ts";
import { recordSent, wasSent } from "./sent-emails.ts";

const { database } = useDatabase();

test("a mail is known as sent, recorded once or twice", async () => {
  expect(await wasSent(database(), "<a@example.com>")).toBe(false);
  await recordSent(database(), "<a@example.com>");
  await recordSent(database(), "<a@example.com>");
  expect(await wasSent(database(), "<a@example.com>")).toBe(true);
});

test("what is older than 30 days goes as further mails are sent, so that the table does not grow for ever", async () => {
  await sql`insert into sent_emails (message_id, sent_at)
    select 'old-' || n, now() - interval '31 days' from generate_series(1, 10) n`.execute(database());
  await sql`insert into sent_emails (message_id, sent_at) values ('young', now() - interval '29 days')`.execute(
    database(),
  );
  for (const name of ["1", "2", "3", "4", "5"]) await recordSent(database(), name);
  const { rows } = await sql<{ count: string }>`select count(*) from sent_emails where message_id like 'old-%'`.execute(
    database(),
  );
  expect(rows).toEqual([{ count: "0" }]);
  expect(await wasSent(database(), "young")).toBe(true);
});
