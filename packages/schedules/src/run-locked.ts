import type { Logger } from "@millrace/logger";
import type { DistributedLock, ExclusiveContext } from "@millrace/redis";
import { LockContendedError } from "@millrace/redis";
import type { CodeSchedule } from "./define-schedule.ts";

/** What a run answers that found another one at work. */
export interface SkippedRun {
  readonly skipped: "lock_contended";
}

/**
 * Does a scheduled job's work under the lock that its schedule declares. While another run holds it: with overlap `skip` this one is over, and
 * says so in the log and in its result; with `queue` it waits its turn, as the host defers a contended job.
 *
 * @throws Error when the schedule declares no lock
 * @throws LockContendedError with overlap `queue`, while another run holds the lock
 * @throws what `runExclusive` throws
 */
export async function runLocked<T>(
  distributedLock: DistributedLock,
  { id, lock, overlap }: CodeSchedule,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
  fn: (context: ExclusiveContext) => Promise<T>,
): Promise<T | SkippedRun> {
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
    log.info({ scheduleId: id, code: error.code }, "a scheduled run was skipped: another one is at work");
    return { skipped: "lock_contended" };
  }
}
