import type { DistributedLock, ExclusiveContext } from "@millrace/redis";
import { LockContendedError } from "@millrace/redis";
import type { CodeSchedule } from "./define-schedule.ts";

/** Another run is at work, so that this one has nothing to do. The worker host knows it by its fields: the job is `skipped`. */
export class RunSkippedError extends Error {
  override readonly name = "RunSkippedError";
  readonly isSkip = true;
  readonly code = "lock_contended";
}

/**
 * Does a scheduled job's work under the lock that its schedule declares. While another run holds it: with overlap `skip` this one is over
 * and its job `skipped`; with `queue` it waits its turn, as the host defers a contended job.
 *
 * @throws Error when the schedule declares no lock
 * @throws RunSkippedError with overlap `skip`, while another run holds the lock
 * @throws LockContendedError with overlap `queue`, while another run holds the lock
 * @throws what `runExclusive` throws
 */
export async function runLocked<T>(
  distributedLock: DistributedLock,
  { id, lock, overlap }: CodeSchedule,
  signal: AbortSignal,
  fn: (context: ExclusiveContext) => Promise<T>,
): Promise<T> {
  if (!lock) throw new Error(`Schedule ${JSON.stringify(id)}: expected a lock in its declaration, got none.`);
  let isAtWork = false;
  const work = (context: ExclusiveContext) => {
    isAtWork = true;
    return fn(context);
  };
  try {
    return await distributedLock.runExclusive({ ...lock, signal, fn: work });
  } catch (error) {
    // At work it may have met another lock.
    if (isAtWork || overlap === "queue" || !(error instanceof LockContendedError)) throw error;
    throw new RunSkippedError(`Schedule ${id}: another run is at work.`, { cause: error });
  }
}
