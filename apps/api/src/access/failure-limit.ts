import { isIPv6 } from "node:net";

/** Counts wrong keys by the address that they came from. */
export interface FailureLimit {
  /** How long this address has to wait before it may try a key again, in milliseconds; 0: it need not. */
  waitMs(address: string): number;
  count(address: string): void;
}

const windowMs = 60_000;
const maxAddresses = 10_000;

/**
 * Lets an address give `max` wrong keys within a minute, and then none until that minute is over, right ones neither: an answer would tell a guess
 * from a hit. It counts in this process alone, since a count in Redis would let whoever sends wrong keys make work there; and for the last
 * 10,000 addresses alone, so that it stays small whoever calls.
 *
 * @param max 0: no limit
 * @param now the clock, in milliseconds. Defaults to the machine's
 */
export function createFailureLimit(max: number, now: () => number = Date.now): FailureLimit {
  const failures = new Map<string, { count: number; readonly endsMs: number }>();
  const current = (network: string) => {
    const known = failures.get(network);
    return known && now() < known.endsMs ? known : undefined;
  };
  return {
    waitMs: (address) => {
      const known = current(networkOf(address));
      return known && known.count >= max ? known.endsMs - now() : 0;
    },
    count: (address) => {
      if (max === 0) return;
      const network = networkOf(address);
      const known = current(network) ?? { count: 0, endsMs: now() + windowMs };
      known.count++;
      failures.delete(network);
      failures.set(network, known);
      const [oldest] = failures.keys();
      if (failures.size > maxAddresses && oldest !== undefined) failures.delete(oldest);
    },
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
