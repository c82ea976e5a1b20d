/** What is asked of a worker whose loop is watched. */
export interface WatchedLoop {
  /** How often Redis has been asked for a job so far. */
  turns(): number;
  /** Whether there is a reason to ask for none. */
  mayStand(): boolean;
  redisAnswers(): Promise<boolean>;
}

// An idle loop turns at least every eleven seconds (BullMQ waits for a job for ten at most, and gives a lost wait up after one more); a
// queue at its rate limit lets it stand for thirty.
const lookEveryMs = 15_000;
const looksUntilWedged = 4;

/**
 * Watches whether a worker goes on asking for jobs. It is wedged when it has not for about a minute, though there was no reason to stand
 * and Redis answered at every look. An outage of Redis is none: that is readiness, and a new process would change nothing.
 *
 * @param everyMs how often to look. Defaults to 15 seconds; the fourth look in a row decides. A loop that turns costs Redis nothing
 */
export function watchFetchLoop(
  { turns, mayStand, redisAnswers }: WatchedLoop,
  everyMs: number = lookEveryMs,
): { isWedged(): boolean; close(): void } {
  let seen = turns();
  let standing = 0;
  const look = async () => {
    const current = turns();
    const isRight = current !== seen || mayStand() || !(await redisAnswers());
    seen = current;
    // Looks are counted and not time: a process that was frozen as a whole has had no chance to turn.
    standing = isRight ? 0 : standing + 1;
  };
  const timer = setInterval(look, everyMs);
  // The jobs keep the process alive, not the look at them.
  timer.unref();
  return { isWedged: () => standing >= looksUntilWedged, close: () => clearInterval(timer) };
}
