import { simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import type { InboxMessage, Mailbox } from "./inbox-mailbox.ts";

const maxMailBytes = 25 * 1024 * 1024;

/** An SMTP server that takes every mail of up to 25 MB, but for recipients whose name asks to be refused: see `refusal`. */
export function createSmtpServer(mailbox: Mailbox): SMTPServer {
  return new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    // Whose name stands behind 127.0.0.1 is known, and asking a name server takes time.
    disableReverseLookup: true,
    size: maxMailBytes,
    rejectOversized: true,
    // A pooled client holds its connection open for as long as it lives.
    closeTimeout: 100,
    onRcptTo: (address, _session, callback) => callback(refusal(address.address)),
    onData: (stream, session, callback) => {
      // A rejection that nobody catches here would end the process.
      readMail(stream, session).then(
        (message) => {
          // Such a mail is answered with 552, whatever is said here.
          if (!stream.sizeExceeded) mailbox.add(message);
          callback();
        },
        (error: unknown) => {
          // The answer goes out only when the mail has come in to its end.
          stream.resume();
          const reason = error instanceof Error ? error.message : String(error);
          callback(Object.assign(new Error(`Unreadable mail: ${reason}`), { responseCode: 554 }));
        },
      );
    },
  });
}

/** Lets a developer see both kinds of failure: `reject-…@` is refused for good, `defer-…@` for now. */
function refusal(address: string): Error | undefined {
  const name = address.toLowerCase();
  if (name.startsWith("reject-")) return Object.assign(new Error("5.1.1 No such mailbox"), { responseCode: 550 });
  if (name.startsWith("defer-")) {
    return Object.assign(new Error("4.2.1 Mailbox busy, try later"), { responseCode: 451 });
  }
  return undefined;
}

async function readMail(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Omit<InboxMessage, "id">> {
  const mail = await simpleParser(stream);
  const { mailFrom, rcptTo } = session.envelope;
  return {
    receivedAt: new Date().toISOString(),
    from: mail.from?.text ?? (mailFrom ? mailFrom.address : ""),
    to: rcptTo.map((recipient) => recipient.address),
    subject: mail.subject ?? "",
    text: mail.text ?? "",
    html: mail.html || null,
    attachments: mail.attachments.map(({ filename, contentType, size }) => ({
      name: filename ?? "",
      contentType,
      bytes: size,
    })),
    messageId: mail.messageId ?? null,
    headers: readHeaders(mail.headerLines),
  };
}

function readHeaders(lines: readonly { readonly key: string; readonly line: string }[]): Record<string, string> {
  const values = lines.map(({ key, line }) => ({
    key,
    value: line
      .slice(line.indexOf(":") + 1)
      .replace(/\r?\n\s+/g, " ")
      .trim(),
  }));
  const byName = Map.groupBy(values, ({ key }) => key);
  return Object.fromEntries([...byName].map(([key, all]) => [key, all.map(({ value }) => value).join("\n")]));
}
