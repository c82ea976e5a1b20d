import { type QueueName, queueNames } from "@millrace/worker-config/contracts";
import { z } from "zod";
import type { DeadLetterRow } from "./dead-letter.ts";
import { type DeadLetterFilter, deadLetterFilterSchema } from "./dead-letter-filter.ts";
import { inBatches } from "./in-batches.ts";
import { createLetterGroups, type LetterGroup } from "./letter-groups.ts";
import { createPace } from "./pace.ts";
import { readRedisTime } from "./read-redis-time.ts";
import { type ReplayOutcome, replayLetter } from "./replay-letter.ts";
import { walkDeadLetters } from "./walk-dead-letters.ts";

const jobSchema = z.strictObject({ queue: queueNames, jobId: z.string().min(1) });

export const replayRequestSchema = z
  .strictObject({
    filter: deadLetterFilterSchema.optional().describe("Which letters; `{}` is all of them. Either this or `jobs`."),
    jobs: z.array(jobSchema).min(1).max(10_000).optional().describe("These jobs, cancelled ones as well."),
    dryRun: z.boolean().default(false).describe("Only say what would be replayed."),
    ratePerSecond: z
      .number()
      .positive()
      .max(10_000)
      .default(100)
      .describe("Replays per second at most, so that what has just come back is not flooded."),
    limit: z.int().positive().default(Number.MAX_SAFE_INTEGER).describe("Letters at most, the oldest first."),
  })
  .refine(({ filter, jobs }) => (filter === undefined) !== (jobs === undefined), {
    path: ["filter"],
    message: "expected either filter or jobs",
  });

/** What became of one letter of a run. */
export interface ReplayProgress {
  readonly queue: QueueName;
  readonly jobId: string;
  readonly outcome: ReplayOutcome;
  /** Letters so far, this one included. */
  readonly done: number;
}

export interface ReplayRun {
  readonly onProgress?: (progress: ReplayProgress) => void;
  /** Ends the run between two letters; a dry one, and the search for letters that fit, between two hundreds of them. */
  readonly signal?: AbortSignal;
}

export interface ReplayReport {
  readonly isDryRun: boolean;
  /** How many were replayed, or would be. */
  readonly replayed: number;
  /** Those, by kind. */
  readonly groups: readonly LetterGroup[];
  /** How many stayed where they were, by reason. */
  readonly refused: Readonly<Partial<Record<ReplayOutcome, number>>>;
  /** The first 100 that stayed. `onProgress` hears of all. */
  readonly refusals: readonly { readonly queue: QueueName; readonly jobId: string; readonly outcome: ReplayOutcome }[];
  /** The signal or the limit ended the run; more letters may fit. */
  readonly isStopped: boolean;
}

/**
 * Replays one job, a cancelled one as well.
 *
 * @throws QueueUnavailableError when Redis does not answer; asking again is safe
 */
export async function replayDeadLetter(queue: QueueName, jobId: string): Promise<ReplayOutcome> {
  const { outcome } = await replayLetter(queue, jobId, await readRedisTime(queue), false);
  return outcome;
}

/**
 * Replays dead letters, the oldest first, each at most once however soon it fails again. A letter that cannot be replayed is in the report
 * and stops nothing.
 *
 * A child of a flow goes back to its parent only if the parent still counts it among its children. One that has given up on it (it failed,
 * or went on without it) is not started again by it: replay the parent as well, once its children have ended.
 *
 * @throws ZodError when the request is not valid
 * @throws QueueUnavailableError when Redis does not answer; what has been replayed stays so, and a second run takes up the rest
 */
export async function replayDeadLetters(
  request: z.input<typeof replayRequestSchema>,
  { onProgress, signal }: ReplayRun = {},
): Promise<ReplayReport> {
  const { filter, jobs, dryRun, ratePerSecond, limit } = replayRequestSchema.parse(request);
  const sinceMs = await readRedisTime();
  const turn = createPace(ratePerSecond, signal);
  const groups = createLetterGroups();
  const refused: Partial<Record<ReplayOutcome, number>> = {};
  const refusals: Omit<ReplayProgress, "done">[] = [];
  let done = 0;
  let replayed = 0;
  let isStopped = false;
  // Replays go one by one, in their pace; questions alone need not.
  for await (const batch of inBatches(jobs ?? findLetters(filter ?? {}, sinceMs, signal), dryRun ? 100 : 1)) {
    if (!dryRun) await turn();
    const asked = signal?.aborted ? [] : batch.slice(0, limit - done);
    const answers = await Promise.all(
      asked.map(async ({ queue, jobId }) => ({ queue, jobId, ...(await replayLetter(queue, jobId, sinceMs, dryRun)) })),
    );
    for (const { queue, jobId, outcome, letter } of answers) {
      done += 1;
      if (outcome === "replayed") {
        replayed += 1;
        if (letter) groups.add(letter);
      } else {
        refused[outcome] = (refused[outcome] ?? 0) + 1;
        if (refusals.length < 100) refusals.push({ queue, jobId, outcome });
      }
      onProgress?.({ queue, jobId, outcome, done });
    }
    isStopped = asked.length < batch.length;
    if (isStopped) break;
  }
  return {
    isDryRun: dryRun,
    replayed,
    groups: groups.list(),
    refused,
    refusals,
    isStopped: isStopped || signal?.aborted === true,
  };
}

/** Those that had failed when the run began. */
async function* findLetters(
  filter: DeadLetterFilter,
  failedUntilMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<DeadLetterRow, void> {
  for await (const { letter } of walkDeadLetters(filter, { order: "oldest_first", failedUntilMs, signal })) {
    if (letter) yield letter;
  }
}
