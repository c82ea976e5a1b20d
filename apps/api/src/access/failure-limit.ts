import { isIPv6 } from "node:net";

/** Counts wrong keys by the address that they came from. */
export interface FailureLimit<Found> {
  /**
   * What `lookUp` finds for a key, or nothing. Requests that come at once with the same key share one look-up.
   *
   * @returns a number where the address has tried too many, whatever this one is: the milliseconds that it has to wait
   */
  attempt(address: string, key: string, lookUp: () => Promise<Found | undefined>): Promise<Found | undefined | number>;
}

const windowMs = 60_000;
const maxAddresses = 10_000;

/**
 * Lets an address give `max` wrong keys within a minute, and then none until that minute is over, right ones neither: an answer would tell a guess
 * from a hit. No more keys of an address are looked up at once than it may still get wrong; the others wait for those, so that many guesses at once
 * are no way round the limit, and many right keys are all let in. It counts in this process alone, since a count in Redis would let whoever sends
 * wrong keys make work there; and for the last 10,000 addresses alone, so that it stays small whoever calls.
 *
 * @param max 0: no limit
 * @param now the clock, in milliseconds. Defaults to the machine's
 */
export function createFailureLimit<Found extends object>(
  max: number,
  now: () => number = Date.now,
): FailureLimit<Found> {
  const failures = new Map<string, { count: number; readonly endsMs: number }>();
  const underWay = new Map<string, Map<string, Promise<Found | undefined>>>();

  const current = (network: string) => {
    const known = failures.get(network);
    return known && now() < known.endsMs ? known : { count: 0, endsMs: now() + windowMs };
  };

  function count(network: string): void {
    const { count, endsMs } = current(network);
    failures.delete(network);
    failures.set(network, { count: count + 1, endsMs });
    const [oldest] = failures.keys();
    if (failures.size > maxAddresses && oldest !== undefined) failures.delete(oldest);
  }

  /** Counted before anybody else comes to know that this look-up has ended. */
  async function countLookUp(
    network: string,
    key: string,
    lookUp: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    try {
      const found = await lookUp();
      if (!found) count(network);
      return found;
    } finally {
      const keys = underWay.get(network);
      keys?.delete(key);
      if (keys?.size === 0) underWay.delete(network);
    }
  }

  async function attempt(network: string, key: string, lookUp: () => Promise<Found | undefined>) {
    for (;;) {
      const { count: failed, endsMs } = current(network);
      if (failed >= max) return endsMs - now();
      const keys = underWay.get(network) ?? new Map<string, Promise<Found | undefined>>();
      const shared = keys.get(key);
      if (shared) {
        const found = await shared;
        if (found) return found;
        if (current(network).count >= max) continue;
        count(network);
        return undefined;
      }
      if (failed + keys.size < max) {
        underWay.set(network, keys);
        const own = countLookUp(network, key, lookUp);
        keys.set(key, own);
        return own;
      }
      await Promise.race(keys.values()).catch(() => {});
    }
  }

  return {
    attempt: (address, key, lookUp) => (max === 0 ? lookUp() : attempt(networkOf(address), key, lookUp)),
  };
}

/** A caller with IPv6 has 2^64 addresses at least, and is one caller all the same. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = "", tail = ""] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const missing = address.includes("::") ? 8 - groups.length - tail.split(":").filter(Boolean).length : 0;
  return [...groups, ...Array<string>(missing).fill("0"), ...tail.split(":")].slice(0, 4).join(":");
}
