import { type Database, findWebhookEndpoint, type WebhookDelivery, type WebhookEndpoint } from "@millrace/database";
import { webhookEventPattern } from "@millrace/worker-config";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { isOwn } from "../access/own-workspace.ts";
import { sendProblem } from "../problem.ts";

/** What an endpoint is made of. */
export const endpointFields = {
  url: z.string().max(2_048).describe("http or https, on port 80, 443 or above 1023, at a public address."),
  events: z.array(webhookEventPattern).min(1).max(100).describe("Names, beginnings of names (`order.*`), or `*`."),
  description: z.string().max(500),
  ownerEmail: z.email().describe("Who is told when the endpoint is paused because it keeps failing."),
};

const moment = z.iso.datetime();

/** An endpoint as the API shows it: its secrets are shown once, when they are made. */
export const endpointSchema = z
  .object({
    id: z.uuid(),
    workspaceId: z.string().nullable(),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().nullable(),
    ownerEmail: z.string().nullable(),
    state: z.enum(["active", "paused", "disabled"]),
    stateReason: z
      .string()
      .nullable()
      .describe("failing: it took nothing for long. gone: it answered 410. manual: through this API."),
    stateSince: moment,
    failingSince: moment.nullable().describe("The first failure after the last success."),
    secretCreatedAt: moment,
    previousSecretExpiresAt: moment
      .nullable()
      .describe("Until then deliveries carry a signature by the secret before as well."),
    createdAt: moment,
  })
  .meta({ id: "WebhookEndpoint" });

export const endpointWithSecretSchema = endpointSchema.extend({
  secret: z.string().describe("For the receiver. It is not shown again."),
});

export const deliverySchema = z
  .object({
    id: z.string(),
    endpointId: z.uuid(),
    event: z.string(),
    eventId: z.string(),
    occurredAt: moment,
    jobId: z.string().describe("`GET /jobs/webhook/:jobId` says when it is tried again."),
    status: z.enum(["pending", "success", "failed", "skipped"]),
    attempts: z.int(),
    httpStatus: z.int().nullable().describe("This and what follows is of the last attempt."),
    durationMs: z.int().nullable(),
    excerpt: z.string().nullable().describe("The first kilobyte of the answer."),
    errorCode: z.string().nullable(),
    createdAt: moment,
    finishedAt: moment.nullable(),
  })
  .meta({ id: "WebhookDelivery" });

/** What adding a delivery answers. */
export const addedDeliverySchema = z.object({ deliveryId: z.string(), jobId: z.string(), queue: z.literal("webhook") });

export function showEndpoint(endpoint: WebhookEndpoint): z.input<typeof endpointSchema> {
  const { secrets: _, ...shown } = endpoint;
  return {
    ...shown,
    workspaceId: endpoint.workspaceId ?? null,
    events: [...endpoint.events],
    description: endpoint.description ?? null,
    ownerEmail: endpoint.ownerEmail ?? null,
    stateReason: endpoint.stateReason ?? null,
    stateSince: endpoint.stateSince.toISOString(),
    failingSince: endpoint.failingSince?.toISOString() ?? null,
    secretCreatedAt: endpoint.secretCreatedAt.toISOString(),
    previousSecretExpiresAt: endpoint.previousSecretExpiresAt?.toISOString() ?? null,
    createdAt: endpoint.createdAt.toISOString(),
  };
}

export function showDelivery(delivery: WebhookDelivery): z.input<typeof deliverySchema> {
  const { position: _, ...shown } = delivery;
  return {
    ...shown,
    occurredAt: delivery.occurredAt.toISOString(),
    httpStatus: delivery.httpStatus ?? null,
    durationMs: delivery.durationMs ?? null,
    excerpt: delivery.excerpt ?? null,
    errorCode: delivery.errorCode ?? null,
    createdAt: delivery.createdAt.toISOString(),
    finishedAt: delivery.finishedAt?.toISOString() ?? null,
  };
}

/** The endpoint, where it is this caller's to see. An endpoint stays with its workspace, so the answer holds for what follows. */
export async function findOwnEndpoint(
  database: Database,
  access: Caller,
  id: string,
): Promise<WebhookEndpoint | undefined> {
  const endpoint = await findWebhookEndpoint(database, id);
  return endpoint && isOwn(access, endpoint.workspaceId) ? endpoint : undefined;
}

export function sendUnknownEndpoint(reply: FastifyReply): FastifyReply {
  const detail = "There is no webhook endpoint with this id.";
  return sendProblem(reply, { status: 404, title: "Unknown endpoint", code: "unknown_endpoint", detail });
}
