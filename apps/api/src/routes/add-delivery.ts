import { randomUUID } from "node:crypto";
import type { WebhookEndpoint } from "@millrace/database";
import { enqueue, webhookContract, webhookRetries } from "@millrace/worker-config";
import type { FastifyReply } from "fastify";
import type { z } from "zod";
import { sendProblem } from "../problem.ts";

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
