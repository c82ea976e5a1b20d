import { type AuditFacts, beginAuditEntry, type Database, endAuditEntry } from "@millrace/database";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { toProblem } from "../problem.ts";
import { AuditUnavailableError } from "./audit-unavailable-error.ts";

interface Entry {
  readonly id: string;
  details: AuditFacts;
  isCutOff: boolean;
}

const entries = new WeakMap<FastifyRequest, Entry>();

/**
 * Writes a row for each use of a route that declares `audit`: who, what and to which of its parameters before the handler acts, and how the
 * handler ended, also where its caller had left by then or was told that it takes too long. What is refused before it reaches the handler (no
 * access, not valid) has done nothing and leaves no row. Call it before there are routes.
 */
export function auditOperations(app: FastifyInstance, database: Database, keepDays: number): void {
  app.addHook("onRoute", (route) => {
    const { handler, config } = route;
    const action = config?.audit;
    if (action === undefined) return;
    route.handler = async function audited(request, reply) {
      const entry = await begin(database, request, action, keepDays);
      // Not waited for: what was done is done, and its caller need not wait for the database once more.
      const end = (status: number) => void endEntry(database, request, entry, status);
      try {
        const answer: unknown = await handler.call(this, request, reply);
        // A handler that fails throws: this status is the deadline's, which was not the end.
        end(reply.statusCode < 500 ? reply.statusCode : 200);
        return answer;
      } catch (error) {
        end(error instanceof Error ? toProblem(error).status : 500);
        throw error;
      }
    };
  });
}

/** Adds to the row of this request what its parameters do not say: the id of what was made, how many there were. Never a payload. */
export function noteAudit(request: FastifyRequest, facts: AuditFacts): void {
  const entry = entries.get(request);
  if (entry) entry.details = { ...entry.details, ...facts };
}

/** The same of an action that goes on step by step until a signal ends it: where that cut it off, its row says `stopped`. */
export function noteRun(
  request: FastifyRequest,
  facts: AuditFacts,
  { isStopped, signal }: { readonly isStopped: boolean; readonly signal: AbortSignal },
): void {
  noteAudit(request, facts);
  const entry = entries.get(request);
  // A run also stops at a limit that it was given, and that is as asked.
  if (entry) entry.isCutOff = isStopped && signal.aborted;
}

async function begin(database: Database, request: FastifyRequest, action: string, keepDays: number): Promise<Entry> {
  const { keyId, keyName, workspaceId } = request.access;
  // The router's own form. Parameters name what a request is about; its query and body may hold what is nobody's to keep.
  const target = request.params as Record<string, string>;
  const begun = { keyId, keyName, workspaceId, action, target, requestId: request.id };
  try {
    const entry: Entry = { id: await beginAuditEntry(database, begun, { keepDays }), details: {}, isCutOff: false };
    entries.set(request, entry);
    return entry;
  } catch (cause) {
    throw new AuditUnavailableError("The audit log took no row.", { cause });
  }
}

async function endEntry(database: Database, request: FastifyRequest, entry: Entry, status: number): Promise<void> {
  const outcome = status < 400 ? (entry.isCutOff ? "stopped" : "done") : status < 500 ? "refused" : "failed";
  try {
    await endAuditEntry(database, entry.id, { outcome, status, details: entry.details });
  } catch (err) {
    request.log.error({ err, code: "audit_outcome_lost", outcome }, "the audit log does not hold how this ended");
  }
}
