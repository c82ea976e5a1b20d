import type { webhookContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { createDeliverWebhook, type DeliverWebhookParts } from "./deliver-webhook.ts";
import { createDispatchEvent } from "./dispatch-event.ts";

/** One entry per action of the contract: the compiler asks for a missing one. */
export function webhookHandlers(parts: DeliverWebhookParts): HandlersOf<typeof webhookContract> {
  return {
    dispatchEvent: createDispatchEvent(parts.database),
    deliverWebhook: createDeliverWebhook(parts),
  };
}
