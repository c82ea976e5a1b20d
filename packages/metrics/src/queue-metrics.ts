import { Gauge, type Registry } from "prom-client";

/** How a queue stands. */
export interface QueueFigures {
  readonly queue: string;
  readonly depth: Readonly<Record<"waiting" | "active" | "delayed" | "waiting_children", number>>;
  readonly deadLetters: number;
  /** Jobs whose damaged records lie in quarantine. */
  readonly quarantined: number;
  readonly isPaused: boolean;
  /** How long the oldest job that could run and has not begun waits, in seconds; 0 without one. */
  readonly oldestWaitingSeconds: number;
}

/**
 * How the queues stand: `queue_depth`, `queue_oldest_waiting_seconds`, `dead_letters`, `quarantined_jobs`, `queue_paused`. To be exported by one kind of process
 * alone: each of them would tell the same. While Redis does not answer they are left out, so that no old figure passes for a new one.
 *
 * @param read asked by each metric of a scrape: should give them all the same answer
 */
export function createQueueMetrics(registry: Registry, read: () => Promise<readonly QueueFigures[]>): void {
  const gauge = <Label extends string>(
    options: { name: string; help: string; labelNames: readonly Label[] },
    set: (gauge: Gauge<Label>, figures: QueueFigures) => void,
  ) =>
    new Gauge<Label>({
      ...options,
      registers: [registry],
      async collect() {
        const queues = await read().catch(() => []);
        this.reset();
        for (const figures of queues) set(this, figures);
      },
    });
  gauge(
    { name: "queue_depth", help: "Jobs in a queue by state.", labelNames: ["queue", "state"] },
    (depth, { queue, depth: states }) => {
      for (const [state, count] of Object.entries(states)) depth.set({ queue, state }, count);
    },
  );
  gauge(
    {
      name: "queue_oldest_waiting_seconds",
      help: "How long the oldest job waits that could run and has not begun.",
      labelNames: ["queue"],
    },
    (oldest, { queue, oldestWaitingSeconds }) => oldest.set({ queue }, oldestWaitingSeconds),
  );
  gauge(
    {
      name: "dead_letters",
      help: "Jobs that failed for good, until they are replayed or purged.",
      labelNames: ["queue"],
    },
    (dead, { queue, deadLetters }) => dead.set({ queue }, deadLetters),
  );
  gauge(
    {
      name: "quarantined_jobs",
      help: "Jobs whose records are damaged, until they are discarded.",
      labelNames: ["queue"],
    },
    (damaged, { queue, quarantined }) => damaged.set({ queue }, quarantined),
  );
  gauge(
    {
      name: "queue_paused",
      help: "1 while a queue is paused; its jobs count as waiting.",
      labelNames: ["queue"],
    },
    (paused, { queue, isPaused }) => paused.set({ queue }, isPaused ? 1 : 0),
  );
}
