import { type Kysely, sql } from "kysely";
import { recordSent } from "./sent-emails.ts";
import type { Tables } from "./tables.ts";

/** Whom a digest goes to: a person, within one workspace or outside of all. */
export interface DigestRecipient {
  /** Compared in lower case. */
  readonly recipient: string;
  readonly workspaceId?: string | undefined;
}

export interface NewDigestItem extends DigestRecipient {
  readonly topic?: string | undefined;
  readonly text: string;
  /** An http or https address. */
  readonly link?: string | undefined;
}

export interface DigestItem {
  readonly id: string;
  readonly topic: string | undefined;
  readonly text: string;
  readonly link: string | undefined;
  readonly createdAt: Date;
}

export interface Digest {
  /** Oldest first. */
  readonly items: readonly DigestItem[];
}

// Longer than a job's attempts and their waits take, shorter than a day: what a digest claimed that died is in the next day's.
const claimHours = 12;
const mostItems = 100;

/** Keeps something to tell until the recipient's next digest. */
export async function addDigestItem(database: Kysely<Tables>, item: NewDigestItem): Promise<{ id: string }> {
  const { recipient, workspaceId = null, topic = null, text, link = null } = item;
  return database
    .insertInto("email_digest_items")
    .values({ recipient: recipient.toLowerCase(), workspace_id: workspaceId, topic, text, link })
    .returning("id")
    .executeTakeFirstOrThrow();
}

/**
 * The items of one digest: at the first call the recipient's oldest 100 up to `until` that are neither sent nor another digest's, and the
 * same ones at every further call. Another digest takes them over when this one has not asked for 12 hours.
 *
 * @param key names the digest, the same at each attempt
 */
export async function claimDigest(
  database: Kysely<Tables>,
  key: string,
  { recipient, workspaceId, until }: DigestRecipient & { readonly until: Date },
): Promise<Digest> {
  return database.transaction().execute(async (transaction) => {
    const own = await transaction
      .updateTable("email_digest_items")
      .set({ claimed_at: sql<Date>`now()` })
      .where("claimed_by", "=", key)
      .where("sent_at", "is", null)
      .returningAll()
      .execute();
    if (own.length > 0) return toDigest(own);
    const free = transaction
      .selectFrom("email_digest_items")
      .select("id")
      .where("recipient", "=", recipient.toLowerCase())
      .where(sql<boolean>`workspace_id is not distinct from ${workspaceId ?? null}::text`)
      .where("sent_at", "is", null)
      .where("created_at", "<=", until)
      .where(sql<boolean>`(claimed_by is null or claimed_at < now() - make_interval(hours => ${claimHours}))`)
      .orderBy("id")
      .limit(mostItems)
      .forUpdate()
      .skipLocked();
    const claimed = await transaction
      .updateTable("email_digest_items")
      .set({ claimed_by: key, claimed_at: sql<Date>`now()` })
      .where("id", "in", free)
      .returningAll()
      .execute();
    return toDigest(claimed);
  });
}

/** Records that a digest was sent, its mail and its items in one. Each record removes up to 100 items that were sent more than 30 days ago. */
export async function markDigestSent(database: Kysely<Tables>, key: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await recordSent(transaction, key);
    await transaction
      .updateTable("email_digest_items")
      .set({ sent_at: sql<Date>`now()` })
      .where("claimed_by", "=", key)
      .where("sent_at", "is", null)
      .execute();
    await sql`
      delete from email_digest_items where id in (
        select id from email_digest_items where sent_at < now() - interval '30 days'
        order by sent_at limit ${mostItems} for update skip locked)`.execute(transaction);
  });
}

/**
 * Whoever has something unsent that is older than `until`, once each, without those who get no mail. By recipient and workspace, without
 * those up to and including `after`.
 */
export async function listDigestRecipients(
  database: Kysely<Tables>,
  { until, after, limit }: { until: Date; after?: DigestRecipient | undefined; limit: number },
): Promise<DigestRecipient[]> {
  // Outside of all workspaces comes first, and text compares as it is sorted.
  const workspace = sql<string>`coalesce(workspace_id::text, '')`;
  const rows = await database
    .selectFrom("email_digest_items as item")
    .select(["recipient", "workspace_id"])
    .distinct()
    .select(workspace.as("workspace"))
    .where("sent_at", "is", null)
    .where("item.created_at", "<=", until)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("email_suppressions")
            .select("address")
            .whereRef("email_suppressions.address", "=", "item.recipient"),
        ),
      ),
    )
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(recipient, ${workspace}) > (${after?.recipient.toLowerCase() ?? ""}, ${after?.workspaceId ?? ""})`,
      ),
    )
    .orderBy("recipient")
    .orderBy("workspace")
    .limit(limit)
    .execute();
  return rows.map(({ recipient, workspace_id }) => ({ recipient, workspaceId: workspace_id ?? undefined }));
}

function toDigest(
  rows: readonly { id: string; topic: string | null; text: string; link: string | null; created_at: Date }[],
): Digest {
  // An update returns its rows in any order. The ids are whole numbers in text.
  const sorted = rows.toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
  return {
    items: sorted.map(({ id, topic, text, link, created_at }) => ({
      id,
      topic: topic ?? undefined,
      text,
      link: link ?? undefined,
      createdAt: created_at,
    })),
  };
}
