import { randomUUID } from "node:crypto";
import { beginWebhookDelivery, createWebhookEndpoint, type Database } from "@millrace/database";

/** An endpoint of a workspace. @returns its id */
export async function createEndpoint(database: Database, workspaceId: string): Promise<string> {
  const request = { workspaceId, url: "https://example.com/hooks", events: ["*"], secret: "whsec_c2VjcmV0" };
  return (await createWebhookEndpoint(database, request)).id;
}

/** A delivery to an endpoint of a workspace. @returns its id */
export async function createResendable(database: Database, workspaceId: string): Promise<string> {
  const [endpointId, id] = [await createEndpoint(database, workspaceId), randomUUID()];
  const event = { event: "order.paid", eventId: id, occurredAt: new Date(), payload: "{}" };
  await beginWebhookDelivery(database, { id, endpointId, jobId: id, ...event });
  return id;
}
