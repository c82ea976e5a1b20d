import type { emailContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { type FindTemplate, withText } from "./compose.ts";
import type { Deliver } from "./deliver.ts";
import { toMailbox } from "./mailbox.ts";
import { messageIdOf } from "./message-id.ts";

type SendEmail = HandlersOf<typeof emailContract>["sendEmail"];

/** Sends one mail to one recipient, its content given or rendered from a stored template. */
export function createSendEmail(deliver: Deliver, findTemplate: FindTemplate, defaultFrom: string): SendEmail {
  return async ({ to, from, replyTo, headers, attachments, subject = "", html, text, template }, context) => {
    const messageId = messageIdOf(context, from?.address ?? defaultFrom);
    const compose = async () => {
      if (!template)
        return withText({ subject, ...(html !== undefined && { html }), ...(text !== undefined && { text }) });
      return withText(await (await findTemplate(template)).render(template.variables));
    };
    await deliver(
      {
        messageId,
        from: from ? toMailbox(from) : defaultFrom,
        to: toMailbox(to),
        ...(replyTo !== undefined && { replyTo }),
        ...(headers !== undefined && { headers }),
        attachments,
        compose,
      },
      context,
    );
    return { messageId };
  };
}
