import { randomUUID } from "node:crypto";
import {
  createWebhookEndpoint,
  type Database,
  findWebhookDelivery,
  type NewWebhookEndpoint,
  type WebhookEndpoint,
} from "@millrace/database";
import { createRedis } from "@millrace/redis";
import { createSafeClient } from "@millrace/safe-http";
import { createWebhookSecret } from "@millrace/webhooks";
import { webhookContract, webhookDeliveryId } from "@millrace/worker-config/contracts";
import type { JobContext } from "@millrace/worker-host";
import { jobContext } from "@millrace/worker-host/testing";
import { afterAll } from "vitest";
import { createDeliverWebhook, type DeliverWebhookParts } from "../deliver-webhook.ts";
import { createHostLimits, type HostLimitsOptions } from "../host-limits.ts";

/** The domain's collaborators as its worker makes them, for the tests of one file. */
export function useWebhookDomain(database: () => Database) {
  const redis = createRedis("producer", process.env.REDIS_URL ?? "", () => {});
  afterAll(() => redis.disconnect());
  const limits = (options: Partial<HostLimitsOptions> = {}) =>
    createHostLimits({ redis, prefix: process.env.QUEUE_PREFIX ?? "", concurrency: 100, perSecond: 1_000, ...options });
  const parts = (overrides: Partial<DeliverWebhookParts> = {}): DeliverWebhookParts => ({
    database: database(),
    request: createSafeClient({ allowPrivate: true }),
    hostLimits: limits(),
    timeoutMs: 5_000,
    pauseAfterMs: 60_000,
    ...overrides,
  });
  return {
    limits,
    parts,
    /** Delivers one event of its own, unless `data` says otherwise, and says what came of it. */
    deliver: async (
      { id: endpointId }: Pick<WebhookEndpoint, "id">,
      {
        data = {},
        context = {},
        ...overrides
      }: Partial<DeliverWebhookParts> & { data?: object; context?: Partial<JobContext> } = {},
    ) => {
      const eventId = `evt_${randomUUID()}`;
      const fields = { endpointId, event: "order.paid", eventId, payload: { total: "49.90" }, ...data };
      const parsed = webhookContract.actions.deliverWebhook.data.parse(fields);
      const deliveryId = parsed.deliveryId ?? webhookDeliveryId(parsed.eventId, endpointId);
      const settled = await createDeliverWebhook(parts(overrides))(parsed, webhookContext(context)).then(
        (result) => ({ result, error: undefined }),
        (error: unknown) => ({ result: undefined, error }),
      );
      return {
        ...settled,
        row: await findWebhookDelivery(database(), deliveryId),
        deliveryId,
        eventId: parsed.eventId,
      };
    },
    endpoint: (url: string, overrides: Partial<NewWebhookEndpoint> = {}): Promise<WebhookEndpoint> =>
      createWebhookEndpoint(database(), { url, events: ["*"], secret: createWebhookSecret(), ...overrides }),
  };
}

export function webhookContext(overrides: Partial<JobContext> = {}): JobContext {
  return jobContext({ queue: "webhook", action: "deliverWebhook", ...overrides });
}
