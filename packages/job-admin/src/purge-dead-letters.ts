import { type QueueName, queueNames } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { type DeadLetterFilter, deadLetterFilterSchema, fitsFilter } from "./dead-letter-filter.ts";
import { inBatches } from "./in-batches.ts";
import { createLetterGroups, type LetterGroup } from "./letter-groups.ts";
import { discardQuarantined } from "./quarantine.ts";
import { parseQuarantineEntry, quarantinedCode, scanQuarantine } from "./quarantine-entry.ts";
import { readRedisTime } from "./read-redis-time.ts";
import { type Removal, removeLetter } from "./remove-letter.ts";
import { walkDeadLetters } from "./walk-dead-letters.ts";

export const purgeRequestSchema = z.strictObject({
  olderThanMs: z.int().nonnegative().describe("What failed, or came into quarantine, at least so long ago."),
  filter: deadLetterFilterSchema
    .omit({ olderThanMs: true, newerThanMs: true })
    .default({})
    .describe(
      "Only these. Without codes, cancelled jobs go as well: nobody else removes them. The code `quarantined` is what lies in quarantine.",
    ),
  dryRun: z.boolean().default(false).describe("Only say what would be removed."),
  limit: z.int().positive().default(Number.MAX_SAFE_INTEGER).describe("Removals at most, the oldest letters first."),
});

export interface PurgeReport {
  readonly isDryRun: boolean;
  /** How many were removed, or would be. */
  readonly removed: number;
  /** How many of them lay in quarantine. */
  readonly quarantined: number;
  /** All that were removed, by kind. What lay in quarantine has the code `quarantined`; a dead letter has it only where an older worker's handler said so. */
  readonly groups: readonly LetterGroup[];
  /** How many stayed although they fit, by reason. */
  readonly kept: Readonly<Record<Exclude<Removal, "removed">, number>>;
  /** The signal or the limit ended the run; more may fit. After an abort, what was under way has been done and is counted. */
  readonly isStopped: boolean;
}

/**
 * Removes old dead letters for good, then what has lain in quarantine for as long. A hundred at a time, and Redis serves others in between.
 *
 * @param signal ends the run between two hundreds, those included that are looked at and do not fit
 * @throws ZodError when the request is not valid
 * @throws QueueUnavailableError when Redis does not answer; what has been removed stays so
 */
export async function purgeDeadLetters(
  request: z.input<typeof purgeRequestSchema>,
  signal?: AbortSignal,
): Promise<PurgeReport> {
  const { olderThanMs, filter, dryRun, limit } = purgeRequestSchema.parse(request);
  const groups = createLetterGroups();
  const kept = { left: 0, awaited: 0 };
  let removed = 0;
  let quarantined = 0;
  let isStopped = false;
  for await (const batch of inBatches(findRemovable({ ...filter, olderThanMs }, dryRun, signal), 100)) {
    const taken = signal?.aborted ? [] : batch.slice(0, limit - removed);
    const outcomes = await Promise.all(taken.map(async (found) => ({ ...found, outcome: await found.remove() })));
    for (const { kind, isQuarantined, outcome } of outcomes) {
      if (outcome === "removed") {
        removed += 1;
        if (isQuarantined) quarantined += 1;
        groups.add(kind);
      } else kept[outcome] += 1;
    }
    isStopped = taken.length < batch.length;
    if (isStopped) break;
  }
  return {
    ...{ isDryRun: dryRun, removed, quarantined, kept },
    groups: groups.list(),
    isStopped: isStopped || signal?.aborted === true,
  };
}

interface Removable {
  readonly kind: Omit<LetterGroup, "count">;
  /** Where it lies: its code does not say so, since an older worker's handlers may have failed with that of the quarantine. */
  readonly isQuarantined: boolean;
  remove(): Promise<Removal>;
}

async function* findRemovable(
  filter: DeadLetterFilter & { olderThanMs: number },
  isTry: boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<Removable, void> {
  const until = (await readRedisTime()) - filter.olderThanMs;
  const walk = { order: "oldest_first", isWithCancelled: true, signal } as const;
  for await (const { position, letter } of walkDeadLetters(filter, walk)) {
    if (letter) yield { kind: letter, isQuarantined: false, remove: () => removeLetter(position, isTry) };
  }
  for (const queue of filter.queues ?? queueNames.options) {
    if (signal?.aborted) return;
    yield* findQuarantined(queue, filter, until, isTry);
  }
}

async function* findQuarantined(
  queue: QueueName,
  filter: DeadLetterFilter,
  untilMs: number,
  isTry: boolean,
): AsyncGenerator<Removable, void> {
  const seen = new Set<string>();
  for await (const { entries } of scanQuarantine(queue)) {
    for (const { jobId, stored } of entries) {
      const entry = parseQuarantineEntry(stored);
      // An entry that does not say how old it is goes by hand alone.
      if (seen.has(jobId) || !entry || entry.quarantinedAt > untilMs) continue;
      seen.add(jobId);
      const kind = { queue, action: entry.fields.name ?? null, code: quarantinedCode };
      if (!fitsFilter(filter, { ...kind, jobId, message: entry.reason })) continue;
      yield {
        kind,
        isQuarantined: true,
        remove: async () => (isTry || (await discardQuarantined(queue, jobId)) ? "removed" : "left"),
      };
    }
  }
}
