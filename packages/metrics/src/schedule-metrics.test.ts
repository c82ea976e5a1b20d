import { expect, test } from "vitest";
import { checkExposition } from "../test/check-exposition.ts";
import { createRegistry } from "./registry.ts";
import { createScheduleMetrics } from "./schedule-metrics.ts";

test("a scrape has every outcome from the beginning, and counts due times", async () => {
  const registry = createRegistry();
  const metrics = createScheduleMetrics();
  metrics.registerIn(registry);
  metrics.ran("missed", 4);
  const text = await registry.metrics();
  const lines = text.split("\n").filter((line) => line.startsWith("schedule_runs_total"));
  expect(lines.toSorted()).toEqual([
    'schedule_runs_total{outcome="late"} 0',
    'schedule_runs_total{outcome="missed"} 4',
    'schedule_runs_total{outcome="on_time"} 0',
    'schedule_runs_total{outcome="skipped"} 0',
  ]);
  expect(checkExposition(text)).toEqual([]);
});
