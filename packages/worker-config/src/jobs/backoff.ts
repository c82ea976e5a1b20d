import type { JobEnvelope } from "../contracts/job-envelope.ts";

/** The name under which BullMQ calls `backoffDelayMs`. */
export const backoffType = "jittered";

const baseMs = 1_000;
const capMs = 15 * 60_000;
/** What an enqueue may ask for. A record of another producer's may say more: its job would never come back. */
const longestIntervalMs = 30 * 24 * 60 * 60_000;

/** The backoff types that a worker with `defaultWorkerOptions` knows; BullMQ lets any other stall the job instead of waiting. */
export const knownBackoffTypes: ReadonlySet<string> = new Set([backoffType, "fixed", "exponential"]);

/**
 * The wait before the next attempt, in milliseconds. An explicit list is followed as it stands, 30 days at most, its last entry repeating. Else the
 * ceiling is 1 s, 2 s, 4 s … up to 15 min, and the wait lies anywhere in its upper half: a thousand jobs that fail together do not come
 * back together, and none comes back at once.
 *
 * @param attemptsMade attempts that failed so far, 1 after the first
 * @param random in [0, 1), a parameter so that a test can choose it
 */
export function backoffDelayMs(
  attemptsMade: number,
  retryIntervalsMs?: readonly number[],
  random: () => number = Math.random,
): number {
  if (retryIntervalsMs && retryIntervalsMs.length > 0) {
    return Math.min(retryIntervalsMs[Math.min(attemptsMade, retryIntervalsMs.length) - 1] ?? 0, longestIntervalMs);
  }
  const ceilingMs = Math.min(baseMs * 2 ** Math.min(attemptsMade - 1, 30), capMs);
  return Math.round(ceilingMs * (0.5 + random() / 2));
}

/**
 * The time that a job was meant to wait for its retries so far, in milliseconds: what it cannot be blamed for when it is old.
 *
 * @param data the stored envelope, unchecked
 */
export function plannedWaitsMs(attemptsMade: number, data: unknown): number {
  const intervals = intervalsOf(data);
  let waitsMs = 0;
  for (let made = 1; made <= attemptsMade; made += 1) waitsMs += backoffDelayMs(made, intervals, () => 1);
  return waitsMs;
}

/**
 * In the form that BullMQ's `settings.backoffStrategy` has.
 *
 * @param error what ended the attempt; with a number `leastDelayMs` the wait is at least that long
 */
export function backoffStrategy(
  attemptsMade: number,
  _type?: string,
  error?: Error & { readonly leastDelayMs?: unknown },
  job?: { data: unknown },
): number {
  const delayMs = backoffDelayMs(attemptsMade, intervalsOf(job?.data));
  return typeof error?.leastDelayMs === "number" ? Math.max(delayMs, error.leastDelayMs) : delayMs;
}

function intervalsOf(data: unknown): readonly number[] | undefined {
  // The record may be another producer's: nothing is assumed of it but what is checked here.
  const intervals = (data as Partial<JobEnvelope> | null | undefined)?.run?.retryIntervalsMs;
  return Array.isArray(intervals) ? intervals : undefined;
}
