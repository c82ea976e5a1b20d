import {
  type Database,
  deleteEmailTemplate,
  type EmailTemplate,
  findEmailTemplate,
  listEmailTemplates,
  putEmailTemplate,
} from "@millrace/database";
import { parseMailTemplate, TemplateError } from "@millrace/mail-templates";
import { emailTemplateName } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { pageSchema, pagesOf } from "../page.ts";
import { describeResponse, problemResponses, sendProblem } from "../problem.ts";

const { id, locale } = emailTemplateName.shape;
const part = z
  .string()
  .min(1)
  // PostgreSQL keeps no such character.
  .regex(/^[^\0]*$/, "expected no NUL")
  .max(500_000);

const contentSchema = z
  .strictObject({
    subject: part.max(1_000).describe("Liquid. One line when rendered."),
    html: part.optional().describe("Liquid; values are escaped."),
    text: part.optional().describe("Liquid. Without it the text part is made from the HTML."),
  })
  .refine(({ html, text }) => html !== undefined || text !== undefined, {
    path: ["text"],
    message: "expected html, text or both",
  });

const templateSchema = z.object({
  id: z.string(),
  locale: z.string().nullable().describe("null: for every locale without its own."),
  version: z.int().describe("Grows with every change."),
  subject: z.string(),
  html: z.string().nullable(),
  text: z.string().nullable(),
  updatedAt: z.iso.datetime(),
});

const nameOf = (id: string, locale: string | undefined) =>
  `${JSON.stringify(id)}${locale === undefined ? "" : ` for ${locale}`}`;

interface Named {
  Params: { id: string };
  Querystring: { locale?: string };
}

const pages = pagesOf("email-templates", z.object({ id, locale }), { standard: 20, most: 100 });

/** `/email/templates`: what `sendEmail`, `sendBulk` and `sendDigest` render. A broken template is refused here, not at its first mail. */
export function emailTemplateRoutes(app: FastifyInstance, database: Database): void {
  const tags = ["email"];
  const named = { params: z.object({ id }), querystring: z.object({ locale }) };

  app.withTypeProvider<ZodTypeProvider>().get(
    "/email/templates",
    {
      config: { access: "viewer" },
      schema: {
        tags,
        summary: "List the templates",
        querystring: z.object(pages.query),
        response: {
          200: describeResponse("By id and locale.", pageSchema(templateSchema)),
          ...problemResponses,
        },
      },
    },
    async ({ query: { cursor: after, limit } }) => {
      const templates = await listEmailTemplates(database, { after, limit });
      const nextCursor = pages.cursorAfter(templates, limit, ({ id, locale }) => ({ id, locale }));
      return { items: templates.map(toAnswer), nextCursor };
    },
  );

  app.get<Named>(
    "/email/templates/:id",
    {
      config: { access: "viewer" },
      schema: {
        tags,
        summary: "Read the template that a reader gets",
        ...named,
        response: {
          200: describeResponse("That of the locale, of its language, or the one for every locale.", templateSchema),
          ...problemResponses,
        },
      },
    },
    async ({ params, query }, reply) => {
      const template = await findEmailTemplate(database, params.id, query.locale);
      return template ? toAnswer(template) : sendUnknownTemplate(reply, params.id, query.locale);
    },
  );

  app.put<Named & { Body: z.output<typeof contentSchema> }>(
    "/email/templates/:id",
    {
      config: { access: "operator", audit: "template.put" },
      schema: {
        tags,
        summary: "Store a template",
        ...named,
        body: contentSchema,
        response: { 200: describeResponse("As it holds from the next mail on.", templateSchema), ...problemResponses },
      },
    },
    async ({ params, query, body }, reply) => {
      try {
        parseMailTemplate(body);
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        const { code, part: path, message: detail } = error;
        const errors = [{ path, message: detail }];
        return sendProblem(reply, { status: 400, title: "Invalid template", code, detail, errors });
      }
      return toAnswer(await putEmailTemplate(database, { id: params.id, locale: query.locale, ...body }));
    },
  );

  app.delete<Named>(
    "/email/templates/:id",
    {
      config: { access: "operator", audit: "template.remove" },
      schema: {
        tags,
        summary: "Remove a template",
        ...named,
        response: {
          204: z.null().describe("It is gone; jobs that name it fail."),
          ...problemResponses,
        },
      },
    },
    async ({ params, query }, reply) => {
      const isDeleted = await deleteEmailTemplate(database, params.id, query.locale);
      return isDeleted ? reply.status(204).send() : sendUnknownTemplate(reply, params.id, query.locale);
    },
  );
}

function sendUnknownTemplate(reply: Parameters<typeof sendProblem>[0], id: string, locale: string | undefined) {
  const detail = `There is no template ${nameOf(id, locale)}. GET /email/templates lists what there is.`;
  return sendProblem(reply, { status: 404, title: "Unknown template", code: "unknown_template", detail });
}

function toAnswer({ updatedAt, locale, html, text, ...template }: EmailTemplate): z.input<typeof templateSchema> {
  return {
    ...template,
    locale: locale ?? null,
    html: html ?? null,
    text: text ?? null,
    updatedAt: updatedAt.toISOString(),
  };
}
