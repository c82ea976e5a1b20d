import {
  createWebhookEndpoint,
  type Database,
  deleteWebhookEndpoint,
  listWebhookEndpoints,
  updateWebhookEndpoint,
} from "@millrace/database";
import { checkUrl, isPublicAddress, isPublicOrPrivateAddress, SafeHttpError } from "@millrace/safe-http";
import { createWebhookSecret } from "@millrace/webhooks";
import { workspaceIdSchema } from "@millrace/worker-config/contracts";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { noteAudit } from "../access/audit.ts";
import { workspaceFor } from "../access/own-workspace.ts";
import { pageSchema, pagesOf } from "../page.ts";
import { describeResponse, recordProblemResponses } from "../problem.ts";
import {
  endpointFields,
  endpointSchema,
  endpointWithSecretSchema,
  findOwnEndpoint,
  sendUnknownEndpoint,
  showEndpoint,
} from "./webhook-view.ts";

const { url, events, description, ownerEmail } = endpointFields;
const params = z.object({ id: z.uuid() });
const tags = ["webhooks"];
const answers = (schema: z.ZodType) => ({ 200: describeResponse("The endpoint.", schema), ...recordProblemResponses });

const pages = pagesOf("webhook-endpoints", z.uuid());

/** `/webhooks/endpoints`: where events go. */
export function webhookEndpointRoutes(
  app: FastifyInstance,
  database: Database,
  { allowPrivate }: { allowPrivate: boolean },
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const allowedUrl = url.superRefine((given, context) => {
    try {
      // A name's addresses are looked at with each delivery: they may change.
      checkUrl(given, allowPrivate ? isPublicOrPrivateAddress : isPublicAddress);
    } catch (error) {
      if (!(error instanceof SafeHttpError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  });

  typed.post(
    "/webhooks/endpoints",
    {
      config: { access: "operator", workspace: "own", audit: "webhook.add" },
      schema: {
        tags,
        summary: "Register an endpoint",
        body: z.strictObject({
          url: allowedUrl,
          events,
          description: description.optional(),
          ownerEmail: ownerEmail.optional(),
          workspaceId: workspaceIdSchema
            .optional()
            .describe("Whose events it hears of. Defaults to those of no workspace."),
        }),
        response: {
          201: describeResponse("Registered, with its secret.", endpointWithSecretSchema),
          ...recordProblemResponses,
        },
      },
    },
    async (request, reply) => {
      const { access, body } = request;
      const workspaceId = workspaceFor(access, body.workspaceId);
      const secret = createWebhookSecret();
      const endpoint = await createWebhookEndpoint(database, { ...body, workspaceId, secret });
      noteAudit(request, { id: endpoint.id });
      return reply.status(201).send({ ...showEndpoint(endpoint), secret });
    },
  );

  typed.get(
    "/webhooks/endpoints",
    {
      config: { access: "viewer", workspace: "own" },
      schema: {
        tags,
        summary: "List endpoints",
        querystring: z.object({
          workspaceId: workspaceIdSchema.optional(),
          ...pages.query,
        }),
        response: {
          200: describeResponse("A page.", pageSchema(endpointSchema)),
          ...recordProblemResponses,
        },
      },
    },
    async ({ access, query: { cursor: after, limit, ...query } }) => {
      const workspaceId = workspaceFor(access, query.workspaceId);
      const endpoints = await listWebhookEndpoints(database, { workspaceId, after, limit });
      const nextCursor = pages.cursorAfter(endpoints, limit, ({ id }) => id);
      return { items: endpoints.map(showEndpoint), nextCursor };
    },
  );

  typed.get(
    "/webhooks/endpoints/:id",
    {
      config: { access: "viewer", workspace: "own" },
      schema: { tags, summary: "Read an endpoint", params, response: answers(endpointSchema) },
    },
    async ({ access, params: { id } }, reply) => {
      const endpoint = await findOwnEndpoint(database, access, id);
      return endpoint ? showEndpoint(endpoint) : sendUnknownEndpoint(reply);
    },
  );

  typed.patch(
    "/webhooks/endpoints/:id",
    {
      config: { access: "operator", workspace: "own", audit: "webhook.change" },
      schema: {
        tags,
        summary: "Change an endpoint; what is not given stays",
        params,
        body: z.strictObject({
          url: allowedUrl.optional(),
          events: events.optional(),
          description: description.nullable().optional(),
          ownerEmail: ownerEmail.nullable().optional(),
        }),
        response: answers(endpointSchema),
      },
    },
    async ({ access, params: { id }, body }, reply) => {
      if (!(await findOwnEndpoint(database, access, id))) return sendUnknownEndpoint(reply);
      const endpoint = await updateWebhookEndpoint(database, id, body);
      return endpoint ? showEndpoint(endpoint) : sendUnknownEndpoint(reply);
    },
  );

  typed.delete(
    "/webhooks/endpoints/:id",
    {
      config: { access: "operator", workspace: "own", audit: "webhook.remove" },
      schema: {
        tags,
        summary: "Remove an endpoint and its deliveries",
        params,
        response: { 204: z.null().describe("The endpoint is removed."), ...recordProblemResponses },
      },
    },
    async ({ access, params: { id } }, reply) => {
      if (!(await findOwnEndpoint(database, access, id))) return sendUnknownEndpoint(reply);
      const isRemoved = await deleteWebhookEndpoint(database, id);
      return isRemoved ? reply.status(204).send(null) : sendUnknownEndpoint(reply);
    },
  );
}
