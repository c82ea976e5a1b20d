import { Counter, type Registry } from "prom-client";

// All there are, so that how many series there are depends on nothing.
const outcomes = ["on_time", "late", "missed", "skipped"] as const;

/** What became of a schedule's due times. */
export type RunOutcome = (typeof outcomes)[number];

export interface ScheduleMetrics {
  /** So many due times came to this. */
  ran(outcome: RunOutcome, count: number): void;
  /** Lets a registry's scrapes tell of it. */
  registerIn(registry: Registry): void;
}

/** What a process that carries schedules out tells of them: `schedule_runs_total`. */
export function createScheduleMetrics(): ScheduleMetrics {
  const runs = new Counter({
    name: "schedule_runs_total",
    help: "Due times of schedules by what this process made of them.",
    labelNames: ["outcome"],
    registers: [],
  });
  // There from the beginning, so that the first one is a rise.
  for (const outcome of outcomes) runs.inc({ outcome }, 0);
  return {
    ran: (outcome, count) => runs.inc({ outcome }, count),
    registerIn: (registry) => registry.registerMetric(runs),
  };
}
