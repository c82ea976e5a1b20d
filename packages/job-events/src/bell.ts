/** Wakes one sleeper. Rung while nobody sleeps, it wakes the next one at once; rung often, it wakes once. */
export interface Bell {
  ring(): void;
  /** Until it is rung, and no longer than `timeoutMs`. */
  sleep(timeoutMs: number): Promise<void>;
}

export function createBell(): Bell {
  let rung = Promise.withResolvers<void>();
  return {
    ring: () => rung.resolve(),
    sleep: async (timeoutMs) => {
      const timer = setTimeout(rung.resolve, timeoutMs);
      await rung.promise;
      clearTimeout(timer);
      rung = Promise.withResolvers();
    },
  };
}
