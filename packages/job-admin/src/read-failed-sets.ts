import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { z } from "zod";
import { comparePositions, type LetterPosition } from "./letter-position.ts";

/** A queue's lists of jobs that Redis keeps sorted. */
export type SortedJobList = "failed" | "completed" | "prioritized" | "delayed" | "waiting-children";

/** Which part of the failed sets, and in which direction. */
export interface FailedSetsRange {
  readonly queues: readonly QueueName[];
  readonly order: "newest_first" | "oldest_first";
  readonly fromMs: number;
  readonly toMs: number;
  /** Which sets, by their own scores where those are no times. Defaults to the failed ones. */
  readonly set?: SortedJobList;
  /** Begins behind this position, whether or not a letter still lies there. */
  readonly after?: LetterPosition | undefined;
}

/**
 * Reads the failed sets of several queues as one sequence. Only as much of them is read as is taken. Letters that leave or join meanwhile
 * shift nothing: what stays is read exactly once.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function* readFailedSets(range: FailedSetsRange): AsyncGenerator<LetterPosition, void> {
  const sources = range.queues.map((queue) => readFailedSet(queue, range));
  const heads = await Promise.all(sources.map(async (source) => ({ source, next: await source.next() })));
  for (;;) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (head.next.done) continue;
      if (!first || first.next.done || isBefore(head.next.value, first.next.value, range.order)) first = head;
    }
    if (!first || first.next.done) return;
    yield first.next.value;
    first.next = await first.source.next();
  }
}

const pairsSchema = z.array(z.string());

async function* readFailedSet(
  queue: QueueName,
  { order, fromMs, toMs, after, set = "failed" }: FailedSetsRange,
): AsyncGenerator<LetterPosition, void> {
  let last = after;
  let chunkSize = 100;
  for (;;) {
    const chunk = await readChunk(queue, { set, order }, chunkSize, {
      fromMs: order === "oldest_first" ? Math.max(fromMs, last?.failedAtMs ?? fromMs) : fromMs,
      toMs: order === "newest_first" ? Math.min(toMs, last?.failedAtMs ?? toMs) : toMs,
    });
    const fresh = chunk.filter((position) => !last || isBefore(last, position, order));
    yield* fresh;
    last = fresh.at(-1) ?? last;
    if (chunk.length < chunkSize) return;
    // So many failed in one millisecond that all of a chunk is known. An offset would miss some when others leave meanwhile.
    if (fresh.length === 0) chunkSize *= 2;
  }
}

async function readChunk(
  queue: QueueName,
  { set, order }: Required<Pick<FailedSetsRange, "set" | "order">>,
  size: number,
  { fromMs, toMs }: Pick<FailedSetsRange, "fromMs" | "toMs">,
): Promise<LetterPosition[]> {
  const [from, to] = [toScore(fromMs), toScore(toMs)];
  return askQueue(contracts[queue], async (opened) => {
    const client = await opened.getBackend().client;
    const [command, start, stop] =
      order === "newest_first" ? ["zrevrangebyscore", to, from] : ["zrangebyscore", from, to];
    const args = [opened.toKey(set), start, stop, "WITHSCORES", "LIMIT", 0, size];
    return toPositions(queue, pairsSchema.parse(await client.runCommand(command, args)));
  });
}

function isBefore(one: LetterPosition, other: LetterPosition, order: FailedSetsRange["order"]): boolean {
  const difference = comparePositions(one, other);
  return order === "newest_first" ? difference > 0 : difference < 0;
}

function toScore(timestampMs: number): string {
  if (Number.isFinite(timestampMs)) return String(timestampMs);
  return timestampMs > 0 ? "+inf" : "-inf";
}

/** Redis answers with id and score by turns. */
function toPositions(queue: QueueName, pairs: readonly string[]): LetterPosition[] {
  const positions: LetterPosition[] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    positions.push({ queue, jobId: pairs[index] ?? "", failedAtMs: Number(pairs[index + 1]) });
  }
  return positions;
}
