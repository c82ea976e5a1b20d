import { type AuditFacts, beginAuditEntry, type Database, endAuditEntry } from "@millrace/database";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** What an operator asked for was not done, because nobody would have known of it. */
export class AuditUnavailableError extends Error {
  override readonly name = "AuditUnavailableError";
}

interface Entry {
  readonly id: string;
  details: AuditFacts;
}

const entries = new WeakMap<FastifyRequest, Entry>();

/**
 * Writes a row for each use of a route that declares `audit`: who, what and to which of its parameters before the handler acts, and how it
 * ended afterwards. What is refused before it reaches the handler (no access, not valid) has done nothing and leaves no row.
 */
export function auditOperations(app: FastifyInstance, database: Database, keepDays: number): void {
  app.addHook("preHandler", async (request) => {
    const { audit } = request.routeOptions.config ?? {};
    if (audit === undefined) return;
    const { keyId, keyName, workspaceId } = request.access;
    // The router's own form. Parameters name what a request is about; its query and body may hold what is nobody's to keep.
    const target = request.params as Record<string, string>;
    const entry = { keyId, keyName, workspaceId, action: audit, target, requestId: request.id };
    try {
      entries.set(request, { id: await beginAuditEntry(database, entry, { keepDays }), details: {} });
    } catch (cause) {
      throw new AuditUnavailableError("The audit log took no row.", { cause });
    }
  });
  app.addHook("onResponse", async (request, { statusCode: status }) => {
    const entry = entries.get(request);
    if (!entry) return;
    const outcome = status < 400 ? "done" : status < 500 ? "refused" : "failed";
    await endAuditEntry(database, entry.id, { outcome, status, details: entry.details }).catch((err: unknown) => {
      request.log.error({ err, code: "audit_outcome_lost", outcome }, "the audit log does not hold how this ended");
    });
  });
}

/** Adds to the row of this request what its parameters do not say: the id of what was made, how many there were. Never a payload. */
export function noteAudit(request: FastifyRequest, facts: AuditFacts): void {
  const entry = entries.get(request);
  if (entry) entry.details = { ...entry.details, ...facts };
}
