import { setTimeout as sleep } from "node:timers/promises";

/**
 * Lets one turn through after the other, at most so many per second. After a slow turn the next comes at once; more than one is not made
 * up for.
 *
 * @param signal ends a wait: the turn then comes at once, and its taker looks at the signal
 */
export function createPace(ratePerSecond: number, signal?: AbortSignal): () => Promise<void> {
  const intervalMs = 1_000 / ratePerSecond;
  let due = performance.now();
  return async () => {
    const now = performance.now();
    const waitMs = due - now;
    due = Math.max(due, now - intervalMs) + intervalMs;
    // A timer knows whole milliseconds only.
    if (waitMs >= 1) await sleep(waitMs, undefined, { signal }).catch(() => {});
  };
}
