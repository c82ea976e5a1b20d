import { type Kysely, type Selectable, sql } from "kysely";
import type { Tables, WebhookEndpointsTable } from "./tables.ts";

/** active: gets deliveries. paused: may get them again later. disabled: said that it is gone (410), or a person decided so. */
export type WebhookEndpointState = "active" | "paused" | "disabled";

export interface WebhookEndpoint {
  readonly id: string;
  readonly workspaceId: string | undefined;
  readonly url: string;
  /** Names, `*` for all, or the beginning of a name followed by `.*`. */
  readonly events: readonly string[];
  readonly description: string | undefined;
  /** Who is told when it is paused. */
  readonly ownerEmail: string | undefined;
  /** Those that sign now: the newest first, and while a rotation lasts the one before. */
  readonly secrets: readonly string[];
  readonly secretCreatedAt: Date;
  readonly previousSecretExpiresAt: Date | undefined;
  readonly state: WebhookEndpointState;
  /** A code, such as `failing` or `gone`. */
  readonly stateReason: string | undefined;
  readonly stateSince: Date;
  /** Since the first failure after the last success. */
  readonly failingSince: Date | undefined;
  readonly createdAt: Date;
}

export interface NewWebhookEndpoint {
  /** Defaults to a random UUID. */
  readonly id?: string;
  readonly workspaceId?: string | undefined;
  readonly url: string;
  readonly events: readonly string[];
  readonly description?: string | undefined;
  readonly ownerEmail?: string | undefined;
  readonly secret: string;
}

export async function createWebhookEndpoint(
  database: Kysely<Tables>,
  { id, workspaceId, url, events, description, ownerEmail, secret }: NewWebhookEndpoint,
): Promise<WebhookEndpoint> {
  const row = await database
    .insertInto("webhook_endpoints")
    .values({
      ...(id !== undefined && { id }),
      workspace_id: workspaceId ?? null,
      url,
      events: [...events],
      description: description ?? null,
      owner_email: ownerEmail ?? null,
      secret,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toEndpoint(row);
}

/** @param id a UUID; PostgreSQL refuses anything else */
export async function findWebhookEndpoint(database: Kysely<Tables>, id: string): Promise<WebhookEndpoint | undefined> {
  const row = await database.selectFrom("webhook_endpoints").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toEndpoint(row);
}

/** By id, without those up to and including `after`; of one workspace, or of all. */
export async function listWebhookEndpoints(
  database: Kysely<Tables>,
  { workspaceId, after, limit }: { workspaceId?: string | undefined; after?: string | undefined; limit: number },
): Promise<WebhookEndpoint[]> {
  const rows = await database
    .selectFrom("webhook_endpoints")
    .selectAll()
    .$if(workspaceId !== undefined, (query) => query.where("workspace_id", "=", workspaceId ?? ""))
    .$if(after !== undefined, (query) => query.where("id", ">", after ?? ""))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(toEndpoint);
}

/**
 * Who is to hear of an event, by id, without those up to and including `after`: the endpoints of that workspace (none: those without one) that
 * subscribe to it. Paused ones are among them, so that what they missed can be sent when they are back; disabled ones are not.
 */
export async function listWebhookSubscribers(
  database: Kysely<Tables>,
  subscription: { workspaceId: string | undefined; event: string; after?: string | undefined; limit: number },
): Promise<string[]> {
  const { workspaceId = null, event, after, limit } = subscription;
  const rows = await database
    .selectFrom("webhook_endpoints")
    .select("id")
    .where("workspace_id", "is not distinct from", workspaceId)
    .where("state", "!=", "disabled")
    .where(sql<boolean>`events && ${subscriptionsTo(event)}::text[]`)
    .$if(after !== undefined, (query) => query.where("id", ">", after ?? ""))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** `order.paid.eu` is subscribed to by itself, `order.paid.*`, `order.*` and `*`. */
function subscriptionsTo(event: string): string[] {
  const parts = event.split(".");
  const beginnings = parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join(".")}.*`);
  return [event, ...beginnings, "*"];
}

/** Changes what is given and leaves the rest; `null` empties. */
export async function updateWebhookEndpoint(
  database: Kysely<Tables>,
  id: string,
  {
    url,
    events,
    description,
    ownerEmail,
  }: {
    url?: string | undefined;
    events?: readonly string[] | undefined;
    description?: string | null | undefined;
    ownerEmail?: string | null | undefined;
  },
): Promise<WebhookEndpoint | undefined> {
  const row = await database
    .updateTable("webhook_endpoints")
    .set({
      // Something is set in any case, as SQL asks for.
      id,
      ...(url !== undefined && { url }),
      ...(events !== undefined && { events: [...events] }),
      ...(description !== undefined && { description }),
      ...(ownerEmail !== undefined && { owner_email: ownerEmail }),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return row && toEndpoint(row);
}

/** Removes the endpoint and its deliveries. @returns whether there was one */
export async function deleteWebhookEndpoint(database: Kysely<Tables>, id: string): Promise<boolean> {
  const { numDeletedRows } = await database.deleteFrom("webhook_endpoints").where("id", "=", id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * A new secret. The one before signs beside it for `overlapMs`, so that the receiver has time to learn the new one; one that was in its
 * overlap ends at once.
 */
export async function rotateWebhookSecret(
  database: Kysely<Tables>,
  id: string,
  { secret, overlapMs }: { secret: string; overlapMs: number },
): Promise<WebhookEndpoint | undefined> {
  const row = await database
    .updateTable("webhook_endpoints")
    .set({
      previous_secret: sql`secret`,
      previous_secret_expires_at: sql`now() + ${overlapMs} * interval '1 millisecond'`,
      secret,
      secret_created_at: sql`now()`,
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return row && toEndpoint(row);
}

function toEndpoint(row: Selectable<WebhookEndpointsTable>): WebhookEndpoint {
  const { previous_secret, previous_secret_expires_at: expiresAt } = row;
  const isOverlapping = previous_secret !== null && expiresAt !== null && expiresAt.getTime() > Date.now();
  return {
    id: row.id,
    workspaceId: row.workspace_id ?? undefined,
    url: row.url,
    events: row.events,
    description: row.description ?? undefined,
    ownerEmail: row.owner_email ?? undefined,
    secrets: isOverlapping ? [row.secret, previous_secret] : [row.secret],
    secretCreatedAt: row.secret_created_at,
    previousSecretExpiresAt: isOverlapping ? expiresAt : undefined,
    // A newer process may have written a state that this one does not know: it gets nothing, and it can be resumed.
    state: row.state === "active" || row.state === "disabled" ? row.state : "paused",
    stateReason: row.state_reason ?? undefined,
    stateSince: row.state_since,
    failingSince: row.failing_since ?? undefined,
    createdAt: row.created_at,
  };
}
