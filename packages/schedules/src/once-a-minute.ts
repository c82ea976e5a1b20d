const minuteMs = 60_000;

/**
 * What comes back every few seconds is said once a minute.
 *
 * @returns whether this may be said now; it counts as said then
 */
export function onceAMinute(clock: () => number = () => performance.now()): (what: string) => boolean {
  const said = new Map<string, number>();
  return (what) => {
    const now = clock();
    for (const [before, saidAt] of said) if (now - saidAt >= minuteMs) said.delete(before);
    if (said.has(what)) return false;
    said.set(what, now);
    return true;
  };
}
