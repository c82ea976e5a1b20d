/** A source of chance that a seed repeats: the same seed, the same numbers. */
export interface Random {
  /** A whole number from `from` up to and including `to`. */
  between(from: number, to: number): number;
  /** One of the names, each as often as its weight says. */
  pick<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
}

/** Mulberry32: small, and good enough to spread kills over a minute. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (weights) => {
      // The compiler forgets the names' type.
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      throw new RangeError("pick: expected weights above 0.");
    },
  };
}
