import {
  type Database,
  findSuppression,
  listSuppressions,
  type Suppression,
  suppressAddress,
  suppressionReasons,
  unsuppressAddress,
} from "@millrace/database";
import { namedPlace } from "@millrace/page-cursor";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { pageSchema, pagesOf } from "../page.ts";
import { describeResponse, problemResponses, sendProblem } from "../problem.ts";

const suppressionSchema = z.object({
  address: z.string(),
  reason: z.enum(suppressionReasons),
  code: z.string().nullable().describe("What the mail server answered, such as 5.1.1."),
  jobId: z.string().nullable().describe("The job whose mail was rejected."),
  createdAt: z.iso.datetime(),
});

const newSuppressionSchema = z.strictObject({
  address: z.email(),
  reason: z.enum(suppressionReasons).default("manual"),
});

const pages = pagesOf("email-suppressions", namedPlace, { standard: 100, most: 1_000 });

/** `/email/suppressions`: who gets no mail. Addresses are in the query or the body: a path is logged. */
export function emailSuppressionRoutes(app: FastifyInstance, database: Database): void {
  const tags = ["email"];

  app.withTypeProvider<ZodTypeProvider>().get(
    "/email/suppressions",
    {
      config: { access: "viewer" },
      schema: {
        tags,
        summary: "List who gets no mail",
        querystring: z.object({
          address: z.string().max(320).optional().describe("Only this one."),
          ...pages.query,
        }),
        response: {
          200: describeResponse("By address, in lower case.", pageSchema(suppressionSchema)),
          ...problemResponses,
        },
      },
    },
    async ({ query: { address, cursor: after, limit } }) => {
      if (address !== undefined) {
        const found = await findSuppression(database, address);
        return { items: found ? [toAnswer(found)] : [], nextCursor: null };
      }
      const suppressions = await listSuppressions(database, { after, limit });
      const nextCursor = pages.cursorAfter(suppressions, limit, ({ address }) => address);
      return { items: suppressions.map(toAnswer), nextCursor };
    },
  );

  app.put<{ Body: z.output<typeof newSuppressionSchema> }>(
    "/email/suppressions",
    {
      config: { access: "operator", audit: "suppression.add" },
      schema: {
        tags,
        summary: "Send an address no more mail",
        body: newSuppressionSchema,
        response: {
          200: describeResponse("It gets none. One that got none already keeps its reason.", suppressionSchema),
          ...problemResponses,
        },
      },
    },
    async ({ body }) => {
      await suppressAddress(database, body);
      const now = await findSuppression(database, body.address);
      // Somebody else may have lifted it in between; what was asked for has happened all the same.
      return toAnswer(now ?? { ...body, address: body.address.toLowerCase(), createdAt: new Date() });
    },
  );

  app.delete<{ Querystring: { address: string } }>(
    "/email/suppressions",
    {
      config: { access: "operator", audit: "suppression.remove" },
      schema: {
        tags,
        summary: "Send an address mail again",
        querystring: z.object({ address: z.string().min(1).max(320) }),
        response: {
          204: z.null().describe("It gets mail again."),
          ...problemResponses,
        },
      },
    },
    async ({ query: { address } }, reply) => {
      if (await unsuppressAddress(database, address)) return reply.status(204).send();
      const detail = "This address is not suppressed: it gets mail.";
      return sendProblem(reply, { status: 404, title: "Not suppressed", code: "not_suppressed", detail });
    },
  );
}

function toAnswer({
  code,
  jobId,
  createdAt,
  ...suppression
}: Omit<Suppression, "code" | "jobId"> & Partial<Suppression>): z.input<typeof suppressionSchema> {
  return { ...suppression, code: code ?? null, jobId: jobId ?? null, createdAt: createdAt.toISOString() };
}
