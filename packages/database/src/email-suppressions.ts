import type { Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** Why somebody gets no mail: their mail server said that there is no such mailbox, or a person decided so. */
export const suppressionReasons = ["rejected", "complaint", "unsubscribed", "manual"] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

/**
 * An address that gets no more mail. It is kept readable, in lower case: whoever operates must be able to say who gets none and why, and a
 * digest of an address is guessed in seconds.
 */
export interface Suppression {
  readonly address: string;
  readonly reason: SuppressionReason;
  /** What the mail server answered, such as `5.1.1`. */
  readonly code: string | undefined;
  /** The job whose mail was rejected. */
  readonly jobId: string | undefined;
  readonly createdAt: Date;
}

/** What is known of an address, in whatever case it is written. */
export async function findSuppression(database: Kysely<Tables>, address: string): Promise<Suppression | undefined> {
  const row = await database
    .selectFrom("email_suppressions")
    .selectAll()
    .where("address", "=", address.toLowerCase())
    .executeTakeFirst();
  return row && toSuppression(row);
}

/** Sends this address no more mail. One that is suppressed already keeps its first reason. */
export async function suppressAddress(
  database: Kysely<Tables>,
  suppression: { address: string; reason: SuppressionReason; code?: string | undefined; jobId?: string | undefined },
): Promise<void> {
  const { address, reason, code = null, jobId = null } = suppression;
  await database
    .insertInto("email_suppressions")
    .values({ address: address.toLowerCase(), reason, code, job_id: jobId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** @returns whether it was suppressed */
export async function unsuppressAddress(database: Kysely<Tables>, address: string): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom("email_suppressions")
    .where("address", "=", address.toLowerCase())
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** By address, without those up to and including `after`. */
export async function listSuppressions(
  database: Kysely<Tables>,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<Suppression[]> {
  const rows = await database
    .selectFrom("email_suppressions")
    .selectAll()
    .$if(after !== undefined, (query) => query.where("address", ">", (after ?? "").toLowerCase()))
    .orderBy("address")
    .limit(limit)
    .execute();
  return rows.map(toSuppression);
}

function toSuppression(row: {
  address: string;
  reason: string;
  code: string | null;
  job_id: string | null;
  created_at: Date;
}): Suppression {
  const { address, code, job_id, created_at } = row;
  return {
    address,
    // A newer process may have written a reason that this one does not know; to whoever reads, it is a decision all the same.
    reason: suppressionReasons.find((known) => known === row.reason) ?? "manual",
    code: code ?? undefined,
    jobId: job_id ?? undefined,
    createdAt: created_at,
  };
}
