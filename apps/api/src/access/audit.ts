import { type AuditFacts, type AuditOutcome, beginAuditEntry, type Database, endAuditEntry } from "@millrace/database";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isAnsweredByDeadline, toProblem } from "../problem.ts";
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
      const end = (status: number, outcome: AuditOutcome) =>
        void endEntry(database, request, entry, {
          status,
          outcome: outcome === "done" && entry.isCutOff ? "stopped" : outcome,
        });
      try {
        const answer: unknown = await handler.call(this, request, reply);
        // The deadline's answer, which may have come before, was not the end.
        const status = isAnsweredByDeadline(request) && reply.statusCode >= 500 ? 200 : reply.statusCode;
        // A handler that fails throws: what it answers by itself with whatever problem, it has not done.
        end(status, status < 400 ? "done" : "refused");
        return answer;
      } catch (error) {
        const status = error instanceof Error ? toProblem(error).status : 500;
        end(status, status < 500 ? "refused" : "failed");
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

async function endEntry(
  database: Database,
  request: FastifyRequest,
  entry: Entry,
  { status, outcome }: { readonly status: number; readonly outcome: AuditOutcome },
): Promise<void> {
  try {
    await endAuditEntry(database, entry.id, { outcome, status, details: entry.details });
  } catch (err) {
    request.log.error({ err, code: "audit_outcome_lost", outcome }, "the audit log does not hold how this ended");
  }
}
