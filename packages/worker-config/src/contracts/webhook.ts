import { z } from "zod";
import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";
import { jsonValue } from "./json-value.ts";
import { workspaceIdSchema } from "./workspace-id.ts";

/** What happened, as endpoints subscribe to it: `order.paid`. */
export const webhookEventName = z
  .string()
  .max(100)
  .regex(/^[\w-]+(\.[\w-]+)*$/, "expected words of letters, digits, _ and -, separated by dots");

/** What an endpoint subscribes to: a name, the beginning of names (`order.*`), or everything (`*`). */
export const webhookEventPattern = z
  .string()
  .max(100)
  .regex(/^(\*|[\w-]+(\.[\w-]+)*(\.\*)?)$/, "expected the name of an event, the beginning of one and .*, or *");

const maxPayloadCharacters = 65_536;
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const eventFields = {
  event: webhookEventName,
  // Signed with dots around it, so that it holds none.
  eventId: z
    .string()
    .regex(/^[\w-]{1,128}$/, "expected 1 to 128 letters, digits, _ and -")
    .describe("The event's own. The same one again is delivered to no endpoint twice."),
  payload: z.record(z.string(), jsonValue).refine((payload) => JSON.stringify(payload).length <= maxPayloadCharacters, {
    message: `expected at most ${maxPayloadCharacters} characters of JSON; larger content belongs elsewhere, with a reference to it here`,
  }),
  occurredAt: z.iso.datetime({ offset: true }).optional().describe("Defaults to when the job was added."),
  workspaceId: workspaceIdSchema
    .optional()
    .describe("Whose endpoints hear of it. Defaults to those that belong to no workspace."),
};

/** Where the examples go: the endpoint that `pnpm dev` makes. */
export const exampleWebhookEndpointId = "00000000-0000-4000-8000-000000000001";

/**
 * How often and when a delivery is tried: ten times over three days, as Standard Webhooks advises, so that a receiver may be away for a long
 * weekend. Enqueue `deliverWebhook` with it; without it the waits are those of any job.
 */
export const webhookRetries: { readonly attempts: number; readonly retryIntervalsMs: number[] } = {
  attempts: 10,
  retryIntervalsMs: [
    5 * second,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
  ],
};

/** One delivery per event and endpoint; its job has the same id. Unambiguous, because an event's id holds no dot. */
export function webhookDeliveryId(eventId: string, endpointId: string): string {
  return `${eventId}.${endpointId}`;
}

export const webhookContract = defineQueue("webhook", {
  /** Hands an event out to every endpoint that subscribes to it, page by page: the job of a full page adds that of the next one. */
  dispatchEvent: {
    data: z.object({
      ...eventFields,
      after: z.uuid().optional().describe("Goes on behind this endpoint. Set by the job of the page before."),
    }),
    result: z.object({
      deliveries: z.int().describe("How many endpoints of this page subscribe to the event."),
      created: z.int().describe("How many deliveries were added; the others were there already."),
      nextJobId: z.string().nullable().describe("The job of the next page."),
    }),
    workspaceId: (data) => data.workspaceId,
    idempotencyKey: ({ eventId, after = "" }) => `${eventId}/${after}`,
    options: { attempts: 10 },
    example: { event: "order.paid", eventId: "evt_dispatched", payload: { orderId: "1001", total: "49.90" } },
  },
  /** Delivers one event to one endpoint, signed. */
  deliverWebhook: {
    data: z.object({
      ...eventFields,
      workspaceId: workspaceIdSchema.optional().describe("The endpoint's own, or none where it has none."),
      endpointId: z.uuid(),
      deliveryId: z
        .string()
        .regex(/^[\w.-]{1,200}$/, "expected 1 to 200 letters, digits, _, . and -")
        .optional()
        .describe(
          "Defaults to one made of event and endpoint. One of its own makes a delivery anew; one of another endpoint's deliveries is refused.",
        ),
    }),
    result: z.object({
      deliveryId: z.string(),
      status: z.int().describe("What the endpoint answered: 200 to 299."),
      durationMs: z.int(),
    }),
    timeout: 30_000,
    workspaceId: (data) => data.workspaceId,
    searchable: { endpointId: ({ endpointId }) => endpointId },
    idempotencyKey: ({ deliveryId, eventId, endpointId }) =>
      `${endpointId}/${deliveryId ?? webhookDeliveryId(eventId, endpointId)}`,
    options: { attempts: webhookRetries.attempts },
    example: {
      endpointId: exampleWebhookEndpointId,
      event: "order.paid",
      eventId: "evt_delivered",
      payload: { orderId: "1002", total: "12.50" },
    },
  },
});

export const WebhookQueueJobAction = webhookContract.actionNames.enum;
export type WebhookQueueJobAction = JobAction<typeof webhookContract>;
export type WebhookQueueJobData = JobData<typeof webhookContract>;
