import type { EffectStore } from "../effect-store.ts";
import { createExpiringMap } from "./expiring-map.ts";

interface HeldEffect {
  readonly owner: string;
  /** The start that claimed it, until it is finished. */
  readonly token?: string;
  readonly start: number;
  readonly result?: string;
}

/** Effects in this process. A call is done before another begins, which is what a script is in Redis. */
export function createMemoryEffectStore(now: () => number): EffectStore {
  const effects = createExpiringMap<HeldEffect>(now);
  return {
    claim: async ({ key, owner, token, start }, leaseMs) => {
      const held = effects.get(key);
      if (held?.result !== undefined) return { state: "done", byOwner: held.owner === owner, result: held.result };
      if (held && (held.owner !== owner || held.start > start)) return { state: "busy" };
      effects.set(key, { owner, token, start }, leaseMs);
      return { state: "claimed" };
    },
    // A claim whose lease is over and that nobody took is still this one's to finish.
    finish: async ({ key, owner, token, start }, result, lifetimeMs) => {
      const held = effects.get(key);
      if (held && held.token !== token) return false;
      effects.set(key, { owner, start, result }, lifetimeMs);
      return true;
    },
    giveUp: async ({ key, token }) => {
      if (effects.get(key)?.token === token) effects.delete(key);
    },
  };
}
