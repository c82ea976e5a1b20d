import { createRandom } from "./random.ts";

/** Something that goes wrong, `atMs` milliseconds after the start. */
export type WorkerFault = { readonly atMs: number; readonly kind: "kill" | "deploy"; readonly worker: number };
export type RedisFault = { readonly atMs: number } & (
  | { readonly kind: "cut_clients" }
  | { readonly kind: "restart"; readonly how: "shutdown" | "kill"; readonly downMs: number }
);

export interface PlannedFaults {
  readonly workers: readonly WorkerFault[];
  readonly redis: readonly RedisFault[];
}

const secondsPerRestart = 30;

/**
 * What goes wrong in a run, in the order of time. Redis is restarted twice at least, every other time by a kill.
 *
 * @param canRestart false for a Redis that would forget the jobs
 */
export function planFaults(seed: number, seconds: number, workers: number, canRestart: boolean): PlannedFaults {
  // Chance of its own: more jobs do not move the kills.
  const random = createRandom(seed + 1);
  const workerFaults: WorkerFault[] = momentsOf(seconds, () => random.between(2_000, 6_000)).map((atMs) => ({
    atMs,
    kind: random.pick({ kill: 65, deploy: 35 }),
    worker: random.between(0, workers - 1),
  }));
  const cuts: RedisFault[] = momentsOf(seconds, () => random.between(2_500, 7_500)).map((atMs) => ({
    atMs,
    kind: "cut_clients",
  }));
  const restarts = canRestart ? Math.max(2, Math.round(seconds / secondsPerRestart)) : 0;
  const restartFaults: RedisFault[] = Array.from({ length: restarts }, (_, index) => ({
    atMs: Math.round(((index + random.between(30, 70) / 100) / restarts) * seconds * 1_000),
    kind: "restart",
    how: index % 2 === 0 ? "shutdown" : "kill",
    downMs: random.between(100, 800),
  }));
  return { workers: workerFaults, redis: [...cuts, ...restartFaults].sort((one, other) => one.atMs - other.atMs) };
}

function momentsOf(seconds: number, gapMs: () => number): number[] {
  const moments: number[] = [];
  for (let atMs = gapMs(); atMs < seconds * 1_000; atMs += gapMs()) moments.push(atMs);
  return moments;
}
