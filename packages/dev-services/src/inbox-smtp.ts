import { simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import type { InboxMessage, Mailbox } from "./inbox-mailbox.ts";

const maxMailBytes = 25 * 1024 * 1024;

/** An SMTP server that takes every mail, but for recipients whose name asks to be refused: see `refusal`. */
export function createSmtpServer(mailbox: Mailbox): SMTPServer {
  return new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    size: maxMailBytes,
    rejectOversized: true,
    onRcptTo: (address, _session, callback) => callback(refusal(address.address)),
    onData: (stream, session, callback) => {
      // A rejection that nobody catches here would end the process.
      readMail(stream, session).then(
        (message) => {
          mailbox.add(message);
          callback();
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error("unreadable mail")),
      );
    },
  });
}

/** Lets a developer see both kinds of failure: `reject-…@` is refused for good, `defer-…@` for now. */
function refusal(address: string): Error | undefined {
  if (address.startsWith("reject-")) return Object.assign(new Error("5.1.1 No such mailbox"), { responseCode: 550 });
  if (address.startsWith("defer-"))
    return Object.assign(new Error("4.2.1 Mailbox busy, try later"), { responseCode: 451 });
  return undefined;
}

async function readMail(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Omit<InboxMessage, "id">> {
  const mail = await simpleParser(stream);
  return {
    receivedAt: new Date().toISOString(),
    from: mail.from?.text ?? "",
    // The envelope says who gets the mail; its header only says who is shown.
    to: session.envelope.rcptTo.map((recipient) => recipient.address),
    subject: mail.subject ?? "",
    text: mail.text ?? "",
    html: mail.html || null,
    messageId: mail.messageId ?? null,
    headers: Object.fromEntries(
      mail.headerLines.map(({ key, line }) => [key, line.slice(line.indexOf(":") + 1).trim()]),
    ),
  };
}
