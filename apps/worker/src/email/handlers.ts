import type { emailContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { SendMail } from "./mailer.ts";
import { createSendEmail } from "./send-email.ts";

/** One entry per action of the contract: the compiler asks for a missing one. */
export function emailHandlers(sendMail: SendMail, defaultFrom: string): HandlersOf<typeof emailContract> {
  return {
    sendEmail: createSendEmail(sendMail, defaultFrom),
  };
}
