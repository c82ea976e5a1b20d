import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables.ts";

/** Whether the mail with this key, which is its job's, was handed to the mail server, as far as it was recorded. */
export async function wasSent(database: Kysely<Tables>, key: string): Promise<boolean> {
  const row = await database
    .selectFrom("sent_emails")
    .select("message_id")
    .where("message_id", "=", key)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Remembers for 30 days that the mail server has taken a mail. Each record removes two that are older, so that the table keeps its size
 * without anybody's schedule.
 */
export async function recordSent(database: Kysely<Tables>, key: string): Promise<void> {
  await sql`
    with expired as (
      select message_id from sent_emails where sent_at < now() - interval '30 days'
      order by sent_at limit 2 for update skip locked
    ), removed as (
      delete from sent_emails where message_id in (select message_id from expired)
    )
    insert into sent_emails (message_id) values (${key}) on conflict do nothing`.execute(database);
}
