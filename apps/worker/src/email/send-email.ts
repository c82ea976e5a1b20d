import type { emailContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { convert } from "html-to-text";
import type { Mail, Mailbox, SendMail } from "./mailer.ts";
import { messageIdOf } from "./message-id.ts";

type SendEmail = HandlersOf<typeof emailContract>["sendEmail"];

/**
 * Sends one mail to one recipient.
 *
 * Its Message-ID is the job's own on every attempt. Should the worker die after the server took the mail and before the job was
 * marked done, the mail goes out again, and under this id a receiving server can tell that it is the same one.
 */
export function createSendEmail(sendMail: SendMail, defaultFrom: string): SendEmail {
  return async (data, { jobId, createdAt, signal }) => {
    const messageId = messageIdOf({ jobId, createdAt }, data.from?.address ?? defaultFrom);
    const mail: Mail = {
      messageId,
      from: data.from ? toMailbox(data.from) : defaultFrom,
      to: toMailbox(data.to),
      ...(data.replyTo !== undefined && { replyTo: data.replyTo }),
      subject: data.subject,
      ...(data.html !== undefined && { html: data.html }),
      text: data.text ?? convert(data.html ?? "", { wordwrap: 80 }),
    };
    await sendMail(mail, signal);
    return { messageId };
  };
}

function toMailbox(given: string | { address: string; name?: string | undefined }): Mailbox {
  return typeof given === "string" ? { name: "", address: given } : { name: given.name ?? "", address: given.address };
}
