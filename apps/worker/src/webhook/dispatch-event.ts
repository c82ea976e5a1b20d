import { type Database, listWebhookSubscribers, whenAvailable } from "@millrace/database";
import { webhookContract, webhookDeliveryId, webhookRetries } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";

export type DispatchEvent = HandlersOf<typeof webhookContract>["dispatchEvent"];

const enqueueAtOnce = 50;

/**
 * Adds a delivery per endpoint that subscribes to the event, and for the next page a job like this one: however many endpoints there are, one
 * job stays short, and one that died half way begins its own page again. All ids are made of event and endpoint, so that nothing is added twice.
 *
 * @param pageSize endpoints per job
 */
export function createDispatchEvent(database: Database, pageSize: number = 500): DispatchEvent {
  return async ({ after, occurredAt, ...event }, { createdAt, enqueue }) => {
    const { workspaceId, eventId, event: name } = event;
    const stamped = { ...event, occurredAt: occurredAt ?? createdAt.toISOString() };
    const page = { workspaceId, event: name, after, limit: pageSize };
    const endpointIds = await whenAvailable(() => listWebhookSubscribers(database, page));
    let created = 0;
    for (let start = 0; start < endpointIds.length; start += enqueueAtOnce) {
      const added = await Promise.all(
        endpointIds
          .slice(start, start + enqueueAtOnce)
          .map((endpointId) =>
            enqueue(
              webhookContract,
              "deliverWebhook",
              { ...stamped, endpointId },
              { ...webhookRetries, jobId: webhookDeliveryId(eventId, endpointId) },
            ),
          ),
      );
      created += added.filter(({ status }) => status === "created").length;
    }
    const last = endpointIds.at(-1);
    const isFull = endpointIds.length === pageSize && last !== undefined;
    const next = isFull
      ? await enqueue(
          webhookContract,
          "dispatchEvent",
          { ...stamped, after: last },
          { jobId: `${webhookDeliveryId(eventId, last)}.next` },
        )
      : undefined;
    return { deliveries: endpointIds.length, created, nextJobId: next?.jobId ?? null };
  };
}
