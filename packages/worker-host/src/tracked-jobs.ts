interface TrackedJob {
  readonly token: string;
  /** When its lock was last taken or renewed. */
  readonly ts: number;
}

const roundingMs = 3;

/**
 * The jobs whose locks BullMQ renews, each aged by the monotonic clock.
 *
 * BullMQ compares two readings of the wall clock, and takes the first from the job's record, which holds Redis' time. Where this machine's clock is behind,
 * or is set back while a job runs, it would not renew that job's lock until the clock has caught up: the job would run a second time elsewhere.
 */
export class TrackedJobs extends Map<string, TrackedJob> {
  /** @param tracked whose `ts` is 0 where it is not known how old the lock is: it is renewed at the next look */
  override set(jobId: string, { token, ts }: TrackedJob): this {
    return super.set(jobId, { token, ts: ts === 0 ? Number.NEGATIVE_INFINITY : performance.now() });
  }

  override get(jobId: string): TrackedJob | undefined {
    const tracked = super.get(jobId);
    // As BullMQ reads it: a time of the wall clock as it is now. It asks for more than a quarter of the lock's life, to the millisecond, when a timer of
    // that length is over: what rounding takes must not put the renewal off by another quarter.
    return tracked && { ...tracked, ts: Date.now() - (performance.now() - tracked.ts) - roundingMs };
  }
}
