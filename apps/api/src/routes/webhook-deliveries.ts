import { type Database, findWebhookDelivery, listWebhookDeliveries } from "@millrace/database";
import { countedPlace } from "@millrace/page-cursor";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { pageSchema, pagesOf } from "../page.ts";
import { describeProblem, describeResponse, recordProblemResponses, sendProblem } from "../problem.ts";
import { addDelivery } from "./add-delivery.ts";
import {
  addedDeliverySchema,
  deliverySchema,
  findOwnEndpoint,
  sendUnknownEndpoint,
  showDelivery,
} from "./webhook-view.ts";

const tags = ["webhooks"];

const pages = pagesOf("webhook-deliveries", countedPlace);

/** What was delivered, and once more. */
export function webhookDeliveryRoutes(app: FastifyInstance, database: Database): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get(
    "/webhooks/endpoints/:id/deliveries",
    {
      config: { access: "viewer", workspace: "own" },
      schema: {
        tags,
        summary: "List an endpoint's deliveries, newest first",
        params: z.object({ id: z.uuid() }),
        querystring: z.object(pages.query),
        response: {
          200: describeResponse("A page.", pageSchema(deliverySchema)),
          ...recordProblemResponses,
        },
      },
    },
    async ({ access, params: { id: endpointId }, query: { cursor: before, limit } }, reply) => {
      if (!(await findOwnEndpoint(database, access, endpointId))) return sendUnknownEndpoint(reply);
      const deliveries = await listWebhookDeliveries(database, { endpointId, before, limit });
      const nextCursor = pages.cursorAfter(deliveries, limit, ({ position }) => position);
      return { items: deliveries.map(showDelivery), nextCursor };
    },
  );

  typed.post(
    "/webhooks/deliveries/:id/resend",
    {
      config: { access: "operator", workspace: "own", audit: "webhook.resend" },
      schema: {
        tags,
        summary: "Deliver the same event once more, as a delivery of its own",
        description: "The body and its webhook-id are those of before, so that a receiver that had it can tell.",
        params: z.object({ id: z.string() }),
        response: {
          202: describeResponse("The delivery is added.", addedDeliverySchema),
          409: describeProblem("The endpoint is not active."),
          ...recordProblemResponses,
        },
      },
    },
    async ({ access, params: { id } }, reply) => {
      const delivery = await findWebhookDelivery(database, id);
      const endpoint = delivery && (await findOwnEndpoint(database, access, delivery.endpointId));
      if (!endpoint) {
        const detail = "There is no delivery with this id. It never was, or it was purged.";
        return sendProblem(reply, { status: 404, title: "Unknown delivery", code: "unknown_delivery", detail });
      }
      const { event, eventId, occurredAt, payload } = delivery;
      return addDelivery(reply, endpoint, {
        ...{ event, eventId, occurredAt: occurredAt.toISOString() },
        // What was stored is what the contract had let in.
        payload: JSON.parse(payload),
      });
    },
  );
}
