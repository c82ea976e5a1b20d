/** A mail as the inbox shows it and gives it out as JSON. */
export interface InboxMessage {
  readonly id: string;
  /** ISO 8601, in UTC. */
  readonly receivedAt: string;
  readonly from: string;
  /** Who gets the mail by its envelope, blind copies included; the header only says who is shown. */
  readonly to: readonly string[];
  readonly subject: string;
  /** The text part, or one made from the HTML part. */
  readonly text: string;
  readonly html: string | null;
  /** What came with it, without its bytes. */
  readonly attachments: readonly { readonly name: string; readonly contentType: string; readonly bytes: number }[];
  readonly messageId: string | null;
  /** By lower-case name; a header that comes several times has a line for each. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The mails received so far, newest first, and whoever waits for one. */
export interface Mailbox {
  add(message: Omit<InboxMessage, "id">): void;
  list(): readonly InboxMessage[];
  clear(): void;
  /**
   * Resolves with the first mail that matches, one already here included.
   *
   * @throws Error after `deadlineMs`, 10,000 by default
   */
  waitFor(matches: (message: InboxMessage) => boolean, deadlineMs?: number): Promise<InboxMessage>;
}

// More than anybody reads, and little enough for the memory of a process that runs all day.
const capacity = 500;

/** An empty mailbox that keeps the newest 500 mails in memory. */
export function createMailbox(): Mailbox {
  let messages: readonly InboxMessage[] = [];
  let received = 0;
  const waiting = new Set<(message: InboxMessage) => void>();
  return {
    add: (message) => {
      received += 1;
      const stored = { id: String(received), ...message };
      messages = [stored, ...messages].slice(0, capacity);
      for (const look of [...waiting]) look(stored);
    },
    list: () => messages,
    clear: () => {
      messages = [];
    },
    waitFor: async (matches, deadlineMs = 10_000) => {
      const present = messages.find(matches);
      if (present) return present;
      const { promise, resolve, reject } = Promise.withResolvers<InboxMessage>();
      const look = (message: InboxMessage) => {
        // A condition that throws is its waiter's business, and the sender's mail has arrived all the same.
        try {
          if (matches(message)) resolve(message);
        } catch (error) {
          reject(error);
        }
      };
      waiting.add(look);
      const tooLate = () => {
        const subjects = messages.map(({ subject }) => JSON.stringify(subject)).join(", ") || "no mail at all";
        reject(new Error(`Inbox: expected a matching mail within ${deadlineMs} ms, got ${subjects}.`));
      };
      const timer = setTimeout(tooLate, deadlineMs);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(look);
      }
    },
  };
}
