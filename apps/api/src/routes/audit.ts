import { type AuditEntry, auditOutcomes, type Database, listAuditEntries } from "@millrace/database";
import { countedPlace } from "@millrace/page-cursor";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { pageSchema, pagesOf } from "../page.ts";
import { describeResponse, recordProblemResponses } from "../problem.ts";

const facts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const entrySchema = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    keyId: z.string(),
    keyName: z.string().describe("As the key was called then."),
    workspaceId: z.string().nullable().describe("The workspace that the key was for."),
    action: z.string(),
    target: facts.describe("What it was done to, as the route's parameters named it."),
    requestId: z.string().describe("As the header x-request-id and the log say it."),
    outcome: z
      .enum(auditOutcomes)
      .nullable()
      .describe(
        "stopped: cut off between two steps; `details` count what has happened. null: it has not ended, or the process ended before it.",
      ),
    status: z.int().nullable(),
    details: facts,
    endedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: "AuditEntry" });

const pages = pagesOf("audit", countedPlace);

/** `GET /audit`: what operators did. */
export function auditRoutes(app: FastifyInstance, database: Database): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    "/audit",
    {
      config: { access: "operator" },
      schema: {
        tags: ["audit"],
        summary: "List what operators did, newest first",
        querystring: z.object({
          ...pages.query,
          action: z.string().max(100).optional().describe("Only this one, such as job.cancel."),
          keyId: z.string().max(100).optional().describe("Only this key's."),
        }),
        response: {
          200: describeResponse("A page.", pageSchema(entrySchema)),
          ...recordProblemResponses,
        },
      },
    },
    async ({ query: { cursor: before, limit, ...filter } }) => {
      const entries = await listAuditEntries(database, { ...filter, limit, before });
      return { items: entries.map(toAnswer), nextCursor: pages.cursorAfter(entries, limit, ({ id }) => id) };
    },
  );
}

function toAnswer(entry: AuditEntry): z.input<typeof entrySchema> {
  return {
    ...entry,
    at: entry.at.toISOString(),
    workspaceId: entry.workspaceId ?? null,
    outcome: entry.outcome ?? null,
    status: entry.status ?? null,
    endedAt: entry.endedAt?.toISOString() ?? null,
  };
}
