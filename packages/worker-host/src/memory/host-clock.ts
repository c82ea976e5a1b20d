/** A host's time, in milliseconds since 1970. It can be moved on, never back. */
export interface HostClock {
  now(): number;
  /** A moment that has passed changes nothing. */
  skipTo(moment: number): void;
}

/** @param read the time that passes by itself */
export function createHostClock(read: () => number): HostClock {
  let skippedMs = 0;
  // Whole milliseconds, or a fraction could keep a moment from ever being reached.
  const now = () => Math.floor(read()) + skippedMs;
  return {
    now,
    skipTo: (moment) => {
      skippedMs += Math.max(0, moment - now());
    },
  };
}
