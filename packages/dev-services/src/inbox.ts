import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { createInboxServer } from "./inbox-http.ts";
import { createMailbox, type InboxMessage, type Mailbox } from "./inbox-mailbox.ts";
import { createSmtpServer } from "./inbox-smtp.ts";

export type { InboxMessage };

export interface Inbox {
  readonly smtpUrl: string;
  readonly httpUrl: string;
  messages(): readonly InboxMessage[];
  readonly waitForMessage: Mailbox["waitFor"];
  stop(): Promise<void>;
}

export interface InboxOptions {
  /** Defaults to 0, any free port. */
  readonly smtpPort?: number;
  /** Defaults to 0, any free port. */
  readonly httpPort?: number;
  /** Whether a wanted port that is taken is an error or gives way to a free one. Defaults to false, an error. */
  readonly fallBackToFreePort?: boolean;
}

/** A mail server on this machine that keeps what it gets and shows it on a page. Delivers nothing. */
export async function startInbox(options: InboxOptions = {}): Promise<Inbox> {
  const { smtpPort = 0, httpPort = 0, fallBackToFreePort = false } = options;
  const mailbox = createMailbox();
  const smtp = createSmtpServer(mailbox);
  // Its errors beside a failed listen are clients that went away in the middle of a mail.
  smtp.on("error", () => {});
  const boundSmtpPort = await listen(smtp.server, smtpPort, fallBackToFreePort);
  const smtpUrl = `smtp://127.0.0.1:${boundSmtpPort}`;
  const http = createInboxServer(mailbox, () => smtpUrl);
  const boundHttpPort = await listen(http, httpPort, fallBackToFreePort);
  return {
    smtpUrl,
    httpUrl: `http://127.0.0.1:${boundHttpPort}`,
    messages: mailbox.list,
    waitForMessage: mailbox.waitFor,
    stop: async () => {
      http.closeAllConnections();
      await Promise.all([
        new Promise((closed) => http.close(closed)),
        new Promise<void>((closed) => smtp.close(() => closed())),
      ]);
    },
  };
}

async function listen(server: Server, port: number, fallBackToFreePort: boolean): Promise<number> {
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    if (!fallBackToFreePort || port === 0) throw error;
    return listen(server, 0, false);
  }
  // A server that listens on host and port has an address of this form.
  return (server.address() as AddressInfo).port;
}
