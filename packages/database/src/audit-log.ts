import { type Kysely, type Selectable, sql } from "kysely";
import type { AuditLogTable, Tables } from "./tables.ts";

/** Small facts about what was done, such as ids and counts. */
export type AuditFacts = Readonly<Record<string, string | number | boolean>>;

/**
 * - `done`: as asked.
 * - `stopped`: cut off between two steps; the details count what has happened.
 * - `refused`: there was nothing to do, or it may not be.
 * - `failed`: some of it may have happened.
 */
export const auditOutcomes = ["done", "stopped", "refused", "failed"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** Who is about to do what. */
export interface NewAuditEntry {
  readonly keyId: string;
  readonly keyName: string;
  /** The workspace that the key is for. */
  readonly workspaceId?: string | undefined;
  /** Such as `job.cancel`. */
  readonly action: string;
  /** What it is done to: a queue, a job's id. */
  readonly target: AuditFacts;
  readonly requestId: string;
}

export interface AuditEntry extends NewAuditEntry {
  /** Counts up. */
  readonly id: string;
  readonly at: Date;
  /** Nothing: it has not ended, or its process did before it. */
  readonly outcome: AuditOutcome | undefined;
  /** The answer's HTTP status. */
  readonly status: number | undefined;
  readonly details: AuditFacts;
  readonly endedAt: Date | undefined;
}

/**
 * Writes down what is about to be done, before it is. Each entry removes two that are older than `keepDays`, so that the table keeps its size
 * without anybody's schedule.
 *
 * @returns the entry's id
 */
export async function beginAuditEntry(
  database: Kysely<Tables>,
  { keyId, keyName, workspaceId, action, target, requestId }: NewAuditEntry,
  { keepDays }: { readonly keepDays: number },
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    with expired as (
      select id from audit_log where at < now() - ${keepDays} * interval '1 day' order by at limit 2 for update skip locked
    ), removed as (
      delete from audit_log where id in (select id from expired)
    )
    insert into audit_log (key_id, key_name, workspace_id, action, target, request_id)
    values (${keyId}, ${keyName}, ${workspaceId ?? null}, ${action}, ${JSON.stringify(target)}, ${requestId}) returning id`.execute(
    database,
  );
  const [row] = rows;
  if (!row) throw new Error("expected the id of the audit entry, got none");
  return row.id;
}

/** Adds how it ended. */
export async function endAuditEntry(
  database: Kysely<Tables>,
  id: string,
  {
    outcome,
    status,
    details,
  }: { readonly outcome: AuditOutcome; readonly status: number; readonly details: AuditFacts },
): Promise<void> {
  await database
    .updateTable("audit_log")
    .set({ outcome, status, details: JSON.stringify(details), ended_at: sql`now()` })
    .where("id", "=", id)
    .execute();
}

/** The newest first, those before `before` alone. */
export async function listAuditEntries(
  database: Kysely<Tables>,
  page: {
    readonly before?: string | undefined;
    readonly limit: number;
    readonly action?: string | undefined;
    readonly keyId?: string | undefined;
  },
): Promise<AuditEntry[]> {
  const { before, limit, action, keyId } = page;
  const rows = await database
    .selectFrom("audit_log")
    .selectAll()
    .$if(before !== undefined, (query) => query.where("id", "<", before ?? ""))
    .$if(action !== undefined, (query) => query.where("action", "=", action ?? ""))
    .$if(keyId !== undefined, (query) => query.where("key_id", "=", keyId ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

function toEntry(row: Selectable<AuditLogTable>): AuditEntry {
  return {
    id: row.id,
    at: row.at,
    keyId: row.key_id,
    keyName: row.key_name,
    workspaceId: row.workspace_id ?? undefined,
    action: row.action,
    target: toFacts(row.target),
    requestId: row.request_id,
    // A newer process may have written an outcome that this one does not know.
    outcome: auditOutcomes.find((known) => known === row.outcome),
    status: row.status ?? undefined,
    details: toFacts(row.details),
    endedAt: row.ended_at ?? undefined,
  };
}

/** A text that is no such object, which only a hand can have put there, hides no other row. */
function toFacts(text: string | null): AuditFacts {
  try {
    const facts: unknown = JSON.parse(text ?? "{}");
    if (typeof facts !== "object" || facts === null) return {};
    return Object.fromEntries(
      Object.entries(facts).filter(([, fact]) => ["string", "number", "boolean"].includes(typeof fact)),
    );
  } catch {
    return {};
  }
}
