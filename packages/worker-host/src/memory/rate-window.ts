import type { QueueSettings } from "@millrace/worker-config/contracts";

/** How many jobs may still start: BullMQ's limiter, whose window begins with the first start and ends with its duration. */
export interface RateWindow {
  /** When the next job may start; a moment that has passed means now. */
  opensAt(): number;
  countStart(): void;
}

export function createRateWindow(limit: QueueSettings["rateLimit"], now: () => number): RateWindow {
  let starts = 0;
  let endsAt = Number.NEGATIVE_INFINITY;
  return {
    opensAt: () => (limit && starts >= limit.max ? endsAt : Number.NEGATIVE_INFINITY),
    countStart: () => {
      if (!limit) return;
      if (now() >= endsAt) {
        starts = 0;
        endsAt = now() + limit.durationMs;
      }
      starts += 1;
    },
  };
}
