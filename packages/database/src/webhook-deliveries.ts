import { type Kysely, type Selectable, sql } from "kysely";
import type { Tables, WebhookDeliveriesTable } from "./tables.ts";

/** pending: to be tried, or tried again. skipped: not tried, because its endpoint was paused or disabled. */
export type WebhookDeliveryStatus = "pending" | "success" | "failed" | "skipped";

/** One event on its way to one endpoint. */
export interface WebhookDelivery {
  readonly id: string;
  /** Where it stands in the list of its endpoint: later ones have a higher one. */
  readonly position: string;
  readonly endpointId: string;
  readonly event: string;
  readonly eventId: string;
  readonly occurredAt: Date;
  readonly jobId: string;
  readonly status: WebhookDeliveryStatus;
  readonly attempts: number;
  /** Of the last attempt that got an answer; what follows is of the last attempt. */
  readonly httpStatus: number | undefined;
  readonly durationMs: number | undefined;
  /** The first kilobyte of what the endpoint answered. */
  readonly excerpt: string | undefined;
  readonly errorCode: string | undefined;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
}

export interface NewWebhookDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly event: string;
  readonly eventId: string;
  readonly occurredAt: Date;
  /** JSON text. Kept as long as the delivery, so that it can be made again. */
  readonly payload: string;
  readonly jobId: string;
}

/**
 * Notes that a delivery begins. One that is there already stays as it is.
 *
 * @returns whose it is, and what has become of it so far
 */
export async function beginWebhookDelivery(
  database: Kysely<Tables>,
  { id, endpointId, event, eventId, occurredAt, payload, jobId }: NewWebhookDelivery,
): Promise<Pick<WebhookDelivery, "endpointId" | "status" | "httpStatus" | "durationMs">> {
  const inserted = await database
    .insertInto("webhook_deliveries")
    .values({
      id,
      endpoint_id: endpointId,
      event,
      event_id: eventId,
      occurred_at: occurredAt,
      payload,
      job_id: jobId,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll()
    .executeTakeFirst();
  const row =
    inserted ??
    (await database.selectFrom("webhook_deliveries").selectAll().where("id", "=", id).executeTakeFirstOrThrow());
  return toDelivery(row);
}

export interface WebhookAttempt {
  readonly status: WebhookDeliveryStatus;
  /** False where nothing was sent. Defaults to true. */
  readonly isAttempt?: boolean;
  readonly httpStatus?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly excerpt?: string | undefined;
  readonly errorCode?: string | undefined;
}

/** What came of an attempt. A delivery that has succeeded stays so. */
export async function recordWebhookAttempt(
  database: Kysely<Tables>,
  id: string,
  { status, isAttempt = true, httpStatus, durationMs, excerpt, errorCode }: WebhookAttempt,
): Promise<void> {
  await database
    .updateTable("webhook_deliveries")
    .set({
      status,
      attempts: sql`attempts + ${isAttempt ? 1 : 0}`,
      http_status: httpStatus ?? null,
      duration_ms: durationMs ?? null,
      // PostgreSQL's text holds every sign but this one.
      excerpt: excerpt?.replaceAll("\0", "").slice(0, 1_024) ?? null,
      error_code: errorCode ?? null,
      finished_at: status === "pending" ? null : sql`now()`,
    })
    .where("id", "=", id)
    .where("status", "!=", "success")
    .execute();
}

/** Newest first, those before `before` alone. */
export async function listWebhookDeliveries(
  database: Kysely<Tables>,
  { endpointId, before, limit }: { endpointId: string; before?: string | undefined; limit: number },
): Promise<WebhookDelivery[]> {
  const rows = await database
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("endpoint_id", "=", endpointId)
    .$if(before !== undefined, (query) => query.where("position", "<", before ?? ""))
    .orderBy("position", "desc")
    .limit(limit)
    .execute();
  return rows.map(toDelivery);
}

/** A delivery with what it carries, to make it again. */
export async function findWebhookDelivery(
  database: Kysely<Tables>,
  id: string,
): Promise<(WebhookDelivery & { readonly payload: string }) | undefined> {
  const row = await database.selectFrom("webhook_deliveries").selectAll().where("id", "=", id).executeTakeFirst();
  return row && { ...toDelivery(row), payload: row.payload };
}

/** By position, those that have not ended, without those up to and including `after`. */
export async function listPendingWebhookDeliveries(
  database: Kysely<Tables>,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<Pick<WebhookDelivery, "id" | "position" | "jobId">[]> {
  return database
    .selectFrom("webhook_deliveries")
    .select(["id", "position", "job_id as jobId"])
    .where("status", "=", "pending")
    .$if(after !== undefined, (query) => query.where("position", ">", after ?? ""))
    .orderBy("position")
    .limit(limit)
    .execute();
}

/**
 * Ends a delivery whose job has ended without its record. What is known of its last attempt stays.
 *
 * @returns whether it was pending until now
 */
export async function closeWebhookDelivery(
  database: Kysely<Tables>,
  id: string,
  { status, errorCode }: { status: Exclude<WebhookDeliveryStatus, "pending">; errorCode?: string | undefined },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("webhook_deliveries")
    .set({ status, error_code: errorCode ?? null, finished_at: sql`now()` })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Removes deliveries that have ended and are older than this, oldest first, and with them their payloads: they can no longer be made again, and their event,
 * should it be dispatched once more, is sent once more.
 *
 * @param limit how many at most, so that one call stays short; call again while it returns as many
 * @returns how many
 */
export async function purgeWebhookDeliveries(
  database: Kysely<Tables>,
  { olderThanMs, limit = 1_000 }: { olderThanMs: number; limit?: number },
): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom("webhook_deliveries")
    .where("id", "in", (deliveries) =>
      deliveries
        .selectFrom("webhook_deliveries")
        .select("id")
        .where("status", "!=", "pending")
        .where("created_at", "<", sql<Date>`now() - ${olderThanMs} * interval '1 millisecond'`)
        .orderBy("created_at")
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

function toDelivery(row: Selectable<WebhookDeliveriesTable>): WebhookDelivery {
  return {
    id: row.id,
    position: row.position,
    endpointId: row.endpoint_id,
    event: row.event,
    eventId: row.event_id,
    occurredAt: row.occurred_at,
    jobId: row.job_id,
    // A newer process may have written a status that this one does not know; to whoever reads, it has not ended.
    status: row.status === "success" || row.status === "failed" || row.status === "skipped" ? row.status : "pending",
    attempts: row.attempts,
    httpStatus: row.http_status ?? undefined,
    durationMs: row.duration_ms ?? undefined,
    excerpt: row.excerpt ?? undefined,
    errorCode: row.error_code ?? undefined,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
  };
}
