import { channel } from "node:diagnostics_channel";

/** How long one call waited for a lock, or for a place of a semaphore. */
export interface LockWait {
  readonly kind: "lock" | "semaphore";
  readonly outcome: "acquired" | "contended";
  readonly waitedMs: number;
}

// Locks are made in many places, and who measures them is none of these.
const waits = channel("millrace:lock-wait");

/** Tells of a wait that is over. Without a listener it costs nothing. */
export function tellLockWait(wait: LockWait): void {
  if (waits.hasSubscribers) waits.publish(wait);
}

/**
 * Hears of each wait for a lock or a semaphore in this process.
 *
 * @returns ends it
 */
export function onLockWait(listener: (wait: LockWait) => void): () => void {
  // Only `tellLockWait` publishes here.
  const onMessage = (message: unknown) => listener(message as LockWait);
  waits.subscribe(onMessage);
  return () => void waits.unsubscribe(onMessage);
}
