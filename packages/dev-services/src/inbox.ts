import { createInboxServer } from "./inbox-http.ts";
import { createMailbox, type InboxMessage, type Mailbox } from "./inbox-mailbox.ts";
import { createSmtpServer } from "./inbox-smtp.ts";
import { listenLocally } from "./listen-locally.ts";

export type { InboxMessage };

export interface Inbox {
  /** As SMTP_URL: `smtp://127.0.0.1:<port>`. */
  readonly smtpUrl: string;
  /** Where the page is: `http://127.0.0.1:<port>`. */
  readonly httpUrl: string;
  /** Newest first, 500 at most. */
  messages(): readonly InboxMessage[];
  /** Resolves with the first mail that matches, one already here included. Rejects after `deadlineMs`, 10,000 by default. */
  readonly waitForMessage: Mailbox["waitFor"];
  stop(): Promise<void>;
}

export interface InboxOptions {
  /** Defaults to 0, any free port. */
  readonly smtpPort?: number;
  /** Defaults to 0, any free port. */
  readonly httpPort?: number;
  /** Whether a wanted port that is taken gives way to a free one. Defaults to false: it is an error. */
  readonly fallBackToFreePort?: boolean;
}

/**
 * A mail server on 127.0.0.1 that keeps what it gets in memory and shows it on a page. Delivers nothing.
 *
 * @throws Error that names the port and its variable when a wanted port is taken
 */
export async function startInbox(options: InboxOptions = {}): Promise<Inbox> {
  const { smtpPort = 0, httpPort = 0, fallBackToFreePort = false } = options;
  const mailbox = createMailbox();
  const smtp = createSmtpServer(mailbox);
  // Its errors beside a failed listen are clients that went away in the middle of a mail.
  smtp.on("error", () => {});
  const http = createInboxServer(mailbox, () => smtpUrl);
  const stop = async () => {
    const closed = [
      new Promise<void>((resolve) => smtp.close(resolve)),
      new Promise<void>((resolve) => http.close(() => resolve())),
    ];
    http.closeAllConnections();
    await Promise.all(closed);
  };

  let smtpUrl = "";
  try {
    smtpUrl = `smtp://127.0.0.1:${await listenLocally(smtp.server, smtpPort, fallBackToFreePort, "DEV_INBOX_SMTP_PORT")}`;
    const httpUrl = `http://127.0.0.1:${await listenLocally(http, httpPort, fallBackToFreePort, "DEV_INBOX_HTTP_PORT")}`;
    return { smtpUrl, httpUrl, messages: mailbox.list, waitForMessage: mailbox.waitFor, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
