import { randomUUID } from "node:crypto";
import {
  type Database,
  findWebhookEndpoint,
  moveWebhookEndpoint,
  rotateWebhookSecret,
  type WebhookEndpoint,
  type WebhookEndpointState,
} from "@millrace/database";
import { createWebhookSecret } from "@millrace/webhooks";
import { enqueue, webhookContract, webhookRetries } from "@millrace/worker-config";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { describeProblem, describeResponse, recordProblemResponses, sendProblem } from "../problem.ts";
import {
  addedDeliverySchema,
  endpointSchema,
  endpointWithSecretSchema,
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
    async ({ params: { id }, body }, reply) => {
      const secret = createWebhookSecret();
      const overlapMs = body?.overlapMs ?? day;
      const endpoint = await rotateWebhookSecret(database, id, { secret, overlapMs });
      return endpoint ? { ...showEndpoint(endpoint), secret } : sendUnknownEndpoint(reply);
    },
  );

  const moves = [
    { path: "pause", summary: "Stop calling an endpoint; what it misses is kept", from: ["active"], to: "paused" },
    { path: "resume", summary: "Call a paused or disabled endpoint again", from: ["paused", "disabled"], to: "active" },
  ] as const satisfies { path: string; summary: string; from: WebhookEndpointState[]; to: WebhookEndpointState }[];
  for (const { path, summary, from, to } of moves) {
    typed.post(
      `/webhooks/endpoints/:id/${path}`,
      {
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
      async ({ params: { id } }, reply) => {
        await moveWebhookEndpoint(database, id, { from, to, ...(to === "paused" && { reason: "manual" }) });
        const endpoint = await findWebhookEndpoint(database, id);
        return endpoint ? showEndpoint(endpoint) : sendUnknownEndpoint(reply);
      },
    );
  }

  typed.post(
    "/webhooks/endpoints/:id/test",
    {
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
    async ({ params: { id } }, reply) => {
      const endpoint = await findWebhookEndpoint(database, id);
      if (!endpoint) return sendUnknownEndpoint(reply);
      const event = { event: "webhook.test", eventId: `test_${randomUUID()}`, payload: { message: "It works." } };
      return addDelivery(reply, endpoint, event);
    },
  );
}

interface DeliveredEvent {
  readonly event: string;
  readonly eventId: string;
  readonly occurredAt?: string;
  readonly payload: Record<string, z.core.util.JSONType>;
}

/** Adds a delivery under an id of its own, whatever was delivered before. To an endpoint that is not active it would be skipped. */
export async function addDelivery(
  reply: FastifyReply,
  { id: endpointId, state, workspaceId }: WebhookEndpoint,
  event: DeliveredEvent,
): Promise<FastifyReply> {
  if (state !== "active") {
    const detail = `The endpoint is ${state}; resume it first.`;
    return sendProblem(reply, { status: 409, title: "Endpoint not active", code: "endpoint_not_active", detail });
  }
  const deliveryId = randomUUID();
  const data = { ...event, endpointId, deliveryId, ...(workspaceId !== undefined && { workspaceId }) };
  const { jobId } = await enqueue(webhookContract, "deliverWebhook", data, { ...webhookRetries, jobId: deliveryId });
  return reply.status(202).send({ deliveryId, jobId, queue: "webhook" });
}
