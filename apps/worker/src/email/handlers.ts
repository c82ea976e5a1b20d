import type { emailContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { createFindTemplate } from "./compose.ts";
import { createDeliver, type DeliveryServices } from "./deliver.ts";
import { createSendBulk } from "./send-bulk.ts";
import { createSendDigest } from "./send-digest.ts";
import { createSendEmail } from "./send-email.ts";

export interface EmailServices extends DeliveryServices {
  /** As EMAIL_FROM. */
  readonly defaultFrom: string;
}

/** One entry per action of the contract: the compiler asks for a missing one. */
export function emailHandlers({ defaultFrom, ...services }: EmailServices): HandlersOf<typeof emailContract> {
  const deliver = createDeliver(services);
  const findTemplate = createFindTemplate(services.database);
  return {
    sendEmail: createSendEmail(deliver, findTemplate, defaultFrom),
    sendBulk: createSendBulk(),
    sendDigest: createSendDigest(services.database, deliver, findTemplate, defaultFrom),
  };
}
