/**
 * How workers keep what becomes of a queue's jobs, and operators read it. All of it lies under one key of the queue's:
 *
 * - the key itself: a hash. `since` (milliseconds since 1970), and under each outcome how many starts had it since then.
 * - `<key>:<hour since 1970>`: a hash of that hour, for three hours. `m0` … `m59`: jobs that ended in that minute. `wait:<bucket>` and
 *   `run:<bucket>`: a histogram, with `wait:sum` and `run:sum` in milliseconds.
 * - `<key>:retrying`, `<key>:skipped`, `<key>:cancelled`: sorted sets of the jobs of that status, which BullMQ keeps among others.
 */
export const statisticsMarks = ["retrying", "skipped", "cancelled"] as const;
export type StatisticsMark = (typeof statisticsMarks)[number];

/** How long the statistics of an hour are kept, in seconds: an answer is made of the running hour and the one before. */
export const hourKeptSeconds: number = 3 * 60 * 60;

// Four to a doubling: a time that is read from its bucket is wrong by a tenth at most. The last one takes two days and more.
const perDoubling = 4;
const lastBucket = 28 * perDoubling;

/** The bucket of a histogram that a time falls into. */
export function bucketOf(durationMs: number): number {
  if (!(durationMs > 1)) return 0;
  return Math.min(lastBucket, Math.ceil(perDoubling * Math.log2(durationMs)));
}

/** The time that stands for a bucket, in milliseconds: its middle, as ratios go. */
export function bucketMiddleMs(bucket: number): number {
  return bucket === 0 ? 1 : 2 ** ((bucket - 0.5) / perDoubling);
}

/** How many different buckets there are. */
export const bucketCount: number = lastBucket + 1;
