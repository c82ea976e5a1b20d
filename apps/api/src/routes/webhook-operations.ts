import { randomUUID } from "node:crypto";
import { type Database, moveWebhookEndpoint, rotateWebhookSecret, type WebhookEndpointState } from "@millrace/database";
import { createWebhookSecret } from "@millrace/webhooks";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { describeProblem, describeResponse, recordProblemResponses } from "../problem.ts";
import { addDelivery } from "./add-delivery.ts";
import {
  addedDeliverySchema,
  endpointSchema,
  endpointWithSecretSchema,
  findOwnEndpoint,
  sendUnknownEndpoint,
  showEndpoint,
} from "./webhook-view.ts";

const day = 24 * 60 * 60_000;
const params = z.object({ id: z.uuid() });
const tags = ["webhooks"];

/** What is done to an endpoint: `rotate-secret`, `pause`, `resume`, `test`. */
export function webhookOperationRoutes(app: FastifyInstance, database: Database): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    "/webhooks/endpoints/:id/rotate-secret",
    {
      config: { access: "operator", workspace: "own", audit: "webhook.rotate-secret" },
      schema: {
        tags,
        summary: "Give an endpoint a new secret",
        params,
        // No body is the default as well.
        body: z
          .strictObject({
            overlapMs: z
              .int()
              .min(0)
              .max(30 * day)
              .optional()
              .describe("How long deliveries are signed with the secret before as well. Defaults to a day."),
          })
          .nullish(),
        response: {
          200: describeResponse("The endpoint with its new secret.", endpointWithSecretSchema),
          ...recordProblemResponses,
        },
      },
    },
    async ({ access, params: { id }, body }, reply) => {
      if (!(await findOwnEndpoint(database, access, id))) return sendUnknownEndpoint(reply);
      const secret = createWebhookSecret();
      const overlapMs = body?.overlapMs ?? day;
      const endpoint = await rotateWebhookSecret(database, id, { secret, overlapMs });
      return endpoint ? { ...showEndpoint(endpoint), secret } : sendUnknownEndpoint(reply);
    },
  );

  const moves = [
    {
      path: "pause",
      audit: "webhook.pause",
      summary: "Stop calling an endpoint; what it misses is kept",
      from: ["active"],
      to: "paused",
    },
    {
      path: "resume",
      audit: "webhook.resume",
      summary: "Call a paused or disabled endpoint again",
      from: ["paused", "disabled"],
      to: "active",
    },
  ] as const satisfies {
    path: string;
    audit: string;
    summary: string;
    from: WebhookEndpointState[];
    to: WebhookEndpointState;
  }[];
  for (const { path, audit, summary, from, to } of moves) {
    typed.post(
      `/webhooks/endpoints/:id/${path}`,
      {
        config: { access: "operator", workspace: "own", audit },
        schema: {
          tags,
          summary,
          params,
          response: {
            200: describeResponse(`The endpoint, ${to} now or before.`, endpointSchema),
            ...recordProblemResponses,
          },
        },
      },
      async ({ access, params: { id } }, reply) => {
        if (!(await findOwnEndpoint(database, access, id))) return sendUnknownEndpoint(reply);
        await moveWebhookEndpoint(database, id, { from, to, ...(to === "paused" && { reason: "manual" }) });
        const endpoint = await findOwnEndpoint(database, access, id);
        return endpoint ? showEndpoint(endpoint) : sendUnknownEndpoint(reply);
      },
    );
  }

  typed.post(
    "/webhooks/endpoints/:id/test",
    {
      config: { access: "operator", workspace: "own", audit: "webhook.test" },
      schema: {
        tags,
        summary: "Send an endpoint the event webhook.test",
        params,
        response: {
          202: describeResponse("The delivery is added.", addedDeliverySchema),
          409: describeProblem("The endpoint is not active."),
          ...recordProblemResponses,
        },
      },
    },
    async ({ access, params: { id } }, reply) => {
      const endpoint = await findOwnEndpoint(database, access, id);
      if (!endpoint) return sendUnknownEndpoint(reply);
      const event = { event: "webhook.test", eventId: `test_${randomUUID()}`, payload: { message: "It works." } };
      return addDelivery(reply, endpoint, event);
    },
  );
}
