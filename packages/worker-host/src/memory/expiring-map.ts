/** What is remembered under a key until its time is over. */
export interface ExpiringMap<Value> {
  get(key: string): Value | undefined;
  /** How long the key still holds, in milliseconds; Infinity where it does until it is deleted. */
  leftMs(key: string): number;
  set(key: string, value: Value, lifetimeMs?: number): void;
  delete(key: string): void;
  /** What it holds, expired or not. */
  size(): number;
}

const smallestSweep = 1_000;

/**
 * A map that forgets. What has expired is swept out whenever the map has doubled since the last sweep: it holds at most twice what is still
 * alive, and a set costs the same however large it is.
 */
export function createExpiringMap<Value>(now: () => number): ExpiringMap<Value> {
  const entries = new Map<string, { readonly value: Value; readonly expiresAt: number }>();
  let sweepAt = smallestSweep;

  function find(key: string) {
    const entry = entries.get(key);
    return entry && entry.expiresAt > now() ? entry : undefined;
  }

  function sweep(): void {
    for (const key of entries.keys()) if (!find(key)) entries.delete(key);
    sweepAt = Math.max(smallestSweep, entries.size * 2);
  }

  return {
    get: (key) => find(key)?.value,
    leftMs: (key) => (find(key)?.expiresAt ?? now()) - now(),
    set: (key, value, lifetimeMs = Number.POSITIVE_INFINITY) => {
      entries.set(key, { value, expiresAt: now() + lifetimeMs });
      if (entries.size >= sweepAt) sweep();
    },
    delete: (key) => void entries.delete(key),
    size: () => entries.size,
  };
}
