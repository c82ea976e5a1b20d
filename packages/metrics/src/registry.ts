import { collectDefaultMetrics, Registry } from "prom-client";

export type { Registry };

// Gauges that are named as counters, which `promtool check metrics` refuses; each is the sum of one that stays.
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/**
 * A registry with what every process tells of itself: CPU, memory, open files, garbage collection, and how late its event loop is
 * (`nodejs_eventloop_lag_p99_seconds` and others). One per process: it measures the event loop from here on.
 */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  return registry;
}
