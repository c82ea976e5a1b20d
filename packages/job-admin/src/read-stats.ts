import { type QueueName, queueNames } from "@millrace/worker-config";
import { bucketMiddleMs, toIso } from "@millrace/worker-config/contracts";
import { type Histogram, type QueueCounts, readQueueCounts } from "./read-queue-counts.ts";
import type { QueueStats, Stats } from "./stats.ts";

/**
 * How many jobs are in which state, and how they fare, per queue and in total. One command per queue, none of which takes longer the more
 * jobs there are.
 *
 * @param queues defaults to all
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function readStats(queues: readonly QueueName[] = queueNames.options): Promise<Stats> {
  const counts = await Promise.all(queues.map(async (queue) => ({ queue, counts: await readQueueCounts(queue) })));
  const stats = counts.map(({ queue, counts }) => ({ queue, isPaused: counts.isPaused, ...describe([counts]) }));
  return { queues: stats, total: describe(counts.map(({ counts }) => counts)) };
}

/** What several queues hold together. */
function describe(queues: readonly QueueCounts[]): Omit<QueueStats, "queue" | "isPaused"> {
  const sumOf = (field: (queue: QueueCounts) => number) => queues.reduce((sum, queue) => sum + field(queue), 0);
  const running = sumOf(({ active }) => active);
  const retrying = sumOf((queue) => queue.retrying);
  const pending = sumOf(({ waiting, delayed, waitingChildren }) => waiting + delayed + waitingChildren) - retrying;
  const skipped = sumOf((queue) => queue.skipped);
  const success = sumOf(({ completed }) => completed) - skipped;
  const cancelled = sumOf((queue) => queue.cancelled);
  const failed = sumOf((queue) => queue.failed) - cancelled;
  const queueSize = pending + running + retrying;
  const ages = queues.flatMap(({ nowMs, oldestSinceMs }) =>
    oldestSinceMs === null ? [] : Math.max(0, nowMs - oldestSinceMs),
  );
  const since = queues.flatMap(({ sinceMs }) => sinceMs ?? []);
  const endedAs = (outcome: string) => sumOf(({ outcomes }) => outcomes.get(outcome) ?? 0);
  return {
    ...{ pending, running, retrying, success, failed, cancelled, skipped, queueSize, deadLetters: failed },
    total: queueSize + success + failed + cancelled + skipped,
    quarantined: sumOf(({ quarantined }) => quarantined),
    oldestWaitingMs: ages.length > 0 ? Math.max(...ages) : null,
    throughput: {
      lastMinute: Math.round(sumOf((queue) => endedWithin(queue, 1))),
      lastHour: Math.round(sumOf((queue) => endedWithin(queue, 60))),
    },
    wait: timesOf(queues.map(({ wait }) => wait)),
    run: timesOf(queues.map(({ run }) => run)),
    since: since.length > 0 ? toIso(Math.min(...since)) : null,
    ended: {
      success: endedAs("completed"),
      skipped: endedAs("skipped"),
      failed: endedAs("failed"),
      cancelled: endedAs("cancelled"),
      retry: endedAs("retry"),
    },
  };
}

/** Whole minutes are counted, so that of the one in which the time begins only the part is taken that lies within. */
function endedWithin({ nowMs, minutes }: QueueCounts, lengthMinutes: number): number {
  const current = Math.floor(nowMs / 60_000);
  const outside = (nowMs % 60_000) / 60_000;
  let ended = (minutes.get(current - lengthMinutes) ?? 0) * (1 - outside);
  for (let minute = current - lengthMinutes + 1; minute <= current; minute++) ended += minutes.get(minute) ?? 0;
  return ended;
}

function timesOf(histograms: readonly Histogram[]): QueueStats["wait"] {
  const counts = (histograms[0]?.counts ?? []).map((_, bucket) =>
    histograms.reduce((sum, histogram) => sum + (histogram.counts[bucket] ?? 0), 0),
  );
  const count = counts.reduce((sum, inBucket) => sum + inBucket, 0);
  const sumMs = histograms.reduce((sum, histogram) => sum + histogram.sumMs, 0);
  const quantile = (share: number) => {
    let left = Math.ceil(share * count);
    const bucket = counts.findIndex((inBucket) => {
      left -= inBucket;
      return left <= 0;
    });
    // In tenths of a millisecond: whole ones would round 7.3, which stands for up to 8, to more than a tenth below it.
    return Math.round(bucketMiddleMs(bucket) * 10) / 10;
  };
  if (count === 0) return { count, averageMs: null, p50Ms: null, p95Ms: null, p99Ms: null };
  return {
    count,
    averageMs: Math.round(sumMs / count),
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
  };
}
