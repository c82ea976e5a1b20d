import { askQueue, contracts, type QueueName, queueNames } from "@millrace/worker-config";
import { type DeadLetterRow, readDeadLetters } from "./dead-letter.ts";
import { type DeadLetterFilter, fitsFilter } from "./dead-letter-filter.ts";
import { inBatches } from "./in-batches.ts";
import type { LetterPosition } from "./letter-position.ts";
import { type FailedSetsRange, readFailedSets } from "./read-failed-sets.ts";
import { readRedisTime } from "./read-redis-time.ts";

export interface DeadLetterWalk {
  readonly order: FailedSetsRange["order"];
  readonly after?: LetterPosition | undefined;
  /** Letters that failed later are left out, by the clocks of their workers. */
  readonly failedUntilMs?: number;
  readonly isWithCancelled?: boolean;
  /** Ends the walk between two hundreds, also while none of them is sought. */
  readonly signal?: AbortSignal | undefined;
}

/** One letter that was looked at, and its row if it is one of those that are sought. */
export interface WalkedLetter {
  readonly position: LetterPosition;
  readonly letter?: DeadLetterRow | undefined;
}

/**
 * Looks at every failed job in the filter's queues and age, one after the other. Whoever takes them decides how far it goes.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function* walkDeadLetters(
  filter: DeadLetterFilter,
  { order, after, failedUntilMs = Number.POSITIVE_INFINITY, isWithCancelled = false, signal }: DeadLetterWalk,
): AsyncGenerator<WalkedLetter, void> {
  const { queues = queueNames.options, olderThanMs, newerThanMs, codes } = filter;
  // Nobody needs it where no age is asked for.
  const now = olderThanMs === undefined && newerThanMs === undefined ? 0 : await readRedisTime();
  const positions = readFailedSets({
    queues: queueNames.options.filter((queue) => queues.includes(queue)),
    order,
    after,
    fromMs: newerThanMs === undefined ? Number.NEGATIVE_INFINITY : now - newerThanMs,
    toMs: olderThanMs === undefined ? failedUntilMs : Math.min(failedUntilMs, now - olderThanMs),
  });
  const isSought = (letter: DeadLetterRow | undefined) =>
    letter && fitsFilter(filter, letter) && (codes || isWithCancelled || letter.code !== "cancelled");
  for await (const batch of inBatches(positions, 100)) {
    if (signal?.aborted) return;
    const letters = await readRows(batch);
    for (const position of batch) {
      const letter = letters.get(position);
      yield { position, letter: isSought(letter) ? letter : undefined };
    }
  }
}

async function readRows(batch: readonly LetterPosition[]): Promise<Map<LetterPosition, DeadLetterRow>> {
  const rows = new Map<LetterPosition, DeadLetterRow>();
  const byQueue = Map.groupBy(batch, ({ queue }) => queue);
  await Promise.all(
    [...byQueue].map(async ([queue, positions]) => {
      const letters = await readQueueRows(queue, positions);
      for (const position of positions) {
        const letter = letters.get(position.jobId);
        if (letter) rows.set(position, letter);
      }
    }),
  );
  return rows;
}

function readQueueRows(queue: QueueName, positions: readonly LetterPosition[]): Promise<Map<string, DeadLetterRow>> {
  const jobIds = positions.map(({ jobId }) => jobId);
  return askQueue(contracts[queue], (opened) => readDeadLetters(opened, queue, jobIds));
}
