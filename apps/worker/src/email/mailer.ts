import type { Readable } from "node:stream";
import { createTransport } from "nodemailer";
import { toJobError } from "./smtp-failure.ts";

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** One mail to one recipient. Addresses travel as name and address, never as a header line that could hold more of them. */
export interface Mail {
  readonly messageId: string;
  readonly from: Mailbox | string;
  readonly to: Mailbox;
  readonly replyTo?: string;
  readonly subject: string;
  readonly html?: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly MailAttachment[];
}

export interface MailAttachment {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Readable;
}

/**
 * Hands a mail to the mail server. Resolves when the server has taken it over; cuts the connection when `signal` aborts.
 *
 * @throws PermanentError, UnknownRecipientError or TransientError, by what the server answered
 */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<void>;

/**
 * Mail over SMTP, a connection per mail: a broken one then fails one mail.
 *
 * @param smtpUrl as SMTP_URL
 */
export function createMailer(smtpUrl: string): SendMail {
  return async ({ attachments = [], headers = {}, ...mail }, signal) => {
    const transport = createTransport({
      url: smtpUrl,
      // Below the action's timeout, so that a silent server fails with its own reason.
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 20_000,
      // A payload must not make this process read a file or call an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    let isContentSent = false;
    transport.use("stream", ({ message }, done) => {
      // The last stage on its way to the socket: what the server has asked for is out when it ends.
      message.processFunc((content) =>
        content.once("end", () => {
          isContentSent = true;
        }),
      );
      done();
    });
    try {
      await transport.sendMail({ ...mail, headers: { ...headers }, attachments: [...attachments], signal });
    } catch (error) {
      throw toJobError(error, { isContentSent });
    }
  };
}
