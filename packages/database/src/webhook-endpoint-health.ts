import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables.ts";
import type { WebhookEndpointState } from "./webhook-endpoints.ts";

/** The endpoint took a delivery: whatever failed before is over. */
export async function recordWebhookSuccess(database: Kysely<Tables>, id: string): Promise<void> {
  await database
    .updateTable("webhook_endpoints")
    .set({ failing_since: null })
    .where("id", "=", id)
    // Most successes follow a success, and write nothing.
    .where("failing_since", "is not", null)
    .execute();
}

/**
 * The endpoint did not take a delivery.
 *
 * @returns since when it has been failing without a success in between, and for how many milliseconds by the database's clock; nothing when
 *   the endpoint is gone
 */
export async function recordWebhookFailure(
  database: Kysely<Tables>,
  id: string,
): Promise<{ failingSince: Date; failingMs: number } | undefined> {
  const row = await database
    .updateTable("webhook_endpoints")
    .set({ failing_since: sql`coalesce(failing_since, now())` })
    .where("id", "=", id)
    .returning([
      sql<Date>`failing_since`.as("failingSince"),
      sql<string>`extract(epoch from now() - failing_since) * 1000`.as("failingMs"),
    ])
    .executeTakeFirst();
  return row && { failingSince: row.failingSince, failingMs: Number(row.failingMs) };
}

/**
 * Changes the state if it is still one of `from`: of several at once, one does it. To be active again begins with a clean record.
 *
 * @returns whether it was changed
 */
export async function moveWebhookEndpoint(
  database: Kysely<Tables>,
  id: string,
  { from, to, reason }: { from: readonly WebhookEndpointState[]; to: WebhookEndpointState; reason?: string },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("webhook_endpoints")
    .set({
      state: to,
      state_reason: reason ?? null,
      state_since: sql`now()`,
      ...(to === "active" && { failing_since: null }),
    })
    .where("id", "=", id)
    .where("state", "in", from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
