import { expect, test } from "vitest";
import { checkExposition } from "../test/check-exposition.ts";
import { createQueueMetrics, type QueueFigures } from "./queue-metrics.ts";
import { createRegistry } from "./registry.ts";

const figures: QueueFigures = {
  queue: "email",
  depth: { waiting: 3, active: 1, delayed: 0, waiting_children: 0 },
  deadLetters: 2,
  quarantined: 1,
  isPaused: true,
  oldestWaitingSeconds: 12.5,
};

test("a scrape says how each queue stands, and says nothing while nobody knows", async () => {
  const registry = createRegistry();
  let isAway = false;
  createQueueMetrics(registry, async () => {
    if (isAway) throw new Error("Redis is away");
    return [figures];
  });
  const text = await registry.metrics();
  for (const line of [
    'queue_depth{queue="email",state="waiting"} 3',
    'queue_depth{queue="email",state="active"} 1',
    'queue_oldest_waiting_seconds{queue="email"} 12.5',
    'dead_letters{queue="email"} 2',
    'quarantined_jobs{queue="email"} 1',
    'queue_paused{queue="email"} 1',
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  expect(checkExposition(text)).toEqual([]);
  isAway = true;
  const without = await registry.metrics();
  expect(without).not.toContain('queue="email"');
  expect(checkExposition(without)).toEqual([]);
});
