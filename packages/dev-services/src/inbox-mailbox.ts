export interface InboxMessage {
  readonly id: string;
  readonly receivedAt: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly messageId: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The mails received so far, newest first, and whoever waits for one. */
export interface Mailbox {
  add(message: Omit<InboxMessage, "id">): void;
  list(): readonly InboxMessage[];
  clear(): void;
  /** Resolves with the first mail that matches, one already here included. Rejects after `deadlineMs`, 10,000 by default. */
  waitFor(matches: (message: InboxMessage) => boolean, deadlineMs?: number): Promise<InboxMessage>;
}

const capacity = 500;

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
        if (matches(message)) resolve(message);
      };
      waiting.add(look);
      const timer = setTimeout(
        () => reject(new Error(`Expected a mail within ${deadlineMs} ms, got none that matches.`)),
        deadlineMs,
      );
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(look);
      }
    },
  };
}
