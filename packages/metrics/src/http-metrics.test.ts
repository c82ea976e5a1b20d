import { expect, test } from "vitest";
import { checkExposition, countSeries } from "../test/check-exposition.ts";
import { createHttpMetrics } from "./http-metrics.ts";
import { createRegistry } from "./registry.ts";

test("a scrape says how long requests of each route took by their status, and how many are under way", async () => {
  const registry = createRegistry();
  const { began, answered } = createHttpMetrics(registry);
  for (let request = 0; request < 3; request += 1) began();
  const route = "/jobs/:queue/:jobId";
  answered({ method: "GET", route, status: 200, durationMs: 20 });
  answered({ method: "GET", route, status: 200, durationMs: 4_000 });
  const text = await registry.metrics();
  const labels = `method="GET",route="${route}",status="200"`;
  for (const line of [
    `http_request_duration_seconds_bucket{${labels},le="0.01"} 0`,
    `http_request_duration_seconds_bucket{${labels},le="0.025"} 1`,
    `http_request_duration_seconds_sum{${labels}} 4.02`,
    `http_request_duration_seconds_count{${labels}} 2`,
    "http_requests_in_flight 1",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  expect(checkExposition(text)).toEqual([]);
});

test("whatever callers ask for where there is no route adds no series", async () => {
  const registry = createRegistry();
  const { answered } = createHttpMetrics(registry);
  answered({ method: "GET", route: undefined, status: 404, durationMs: 1 });
  const before = countSeries(await registry.metrics());
  for (const method of ["POST", "PROPFIND", "MKCOL"])
    answered({ method, route: undefined, status: 404, durationMs: 1 });
  const text = await registry.metrics();
  expect(countSeries(text)).toBe(before);
  expect(text).toContain('http_request_duration_seconds_count{method="unknown",route="unknown",status="404"} 4');
});
