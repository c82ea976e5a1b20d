import type { QueueName } from "@millrace/worker-config/contracts";
import type { DeadLetterRow } from "./dead-letter.ts";

/** How many letters of one kind. */
export interface LetterGroup {
  readonly queue: QueueName;
  readonly action: string | null;
  readonly code: string;
  readonly count: number;
}

/** Counts letters by queue, action and code. */
export function createLetterGroups(): {
  add(letter: Pick<DeadLetterRow, "queue" | "action" | "code">): void;
  /** The largest first. */
  list(): LetterGroup[];
} {
  const groups = new Map<string, LetterGroup>();
  return {
    add: ({ queue, action, code }) => {
      const key = JSON.stringify([queue, action, code]);
      groups.set(key, { queue, action, code, count: (groups.get(key)?.count ?? 0) + 1 });
    },
    list: () => [...groups.values()].toSorted((one, other) => other.count - one.count),
  };
}
