import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { checkExposition, countSeries } from "../test/check-exposition.ts";
import { createJobMetrics, type SettledStart } from "./job-metrics.ts";
import { createRegistry } from "./registry.ts";

const contract = defineQueue("default", { run: { data: z.object({}) }, other: { data: z.object({}) } });

function record() {
  const registry = createRegistry();
  const metrics = createJobMetrics(registry, contract);
  const settle = (given: Partial<SettledStart>) =>
    metrics.settled({
      queue: "default",
      action: "run",
      outcome: "completed",
      code: null,
      attempt: 1,
      waitMs: 3,
      durationMs: 40,
      ...given,
    });
  return { settle, scrape: () => registry.metrics() };
}

test("a scrape says how many jobs came to which outcome, and how long they waited and took", async () => {
  const { settle, scrape } = record();
  settle({});
  settle({ outcome: "retry", code: "timeout", waitMs: 2_000, durationMs: 30_000 });
  settle({ attempt: 2, waitMs: null, durationMs: 40 });
  const text = await scrape();
  const labels = 'queue="default",action="run"';
  for (const line of [
    `jobs_processed_total{${labels},outcome="completed",code="none"} 2`,
    `jobs_processed_total{${labels},outcome="retry",code="timeout"} 1`,
    `job_duration_seconds_bucket{${labels},le="0.025"} 0`,
    `job_duration_seconds_bucket{${labels},le="0.1"} 2`,
    `job_duration_seconds_bucket{${labels},le="30"} 3`,
    `job_duration_seconds_sum{${labels}} 30.08`,
    `job_wait_seconds_count{${labels}} 2`,
    `job_attempts_bucket{${labels},le="1"} 1`,
    `job_attempts_bucket{${labels},le="+Inf"} 2`,
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  expect(checkExposition(text)).toEqual([]);
});

test("a job that was ended before it ran counts by its outcome, and has no duration", async () => {
  const { settle, scrape } = record();
  settle({ outcome: "cancelled", code: "cancelled", attempt: 0, waitMs: null, durationMs: null });
  const text = await scrape();
  expect(text).toContain('outcome="cancelled",code="cancelled"} 1');
  expect(text).toContain('job_duration_seconds_count{queue="default",action="run"} 0');
  expect(text).toContain('job_attempts_count{queue="default",action="run"} 0');
});

test("ten thousand jobs of a hundred workspaces add no series, whatever their producers and handlers call things", async () => {
  const { settle, scrape } = record();
  // Every label that there can be, once.
  for (const action of ["run", "other", "unheard-of"]) {
    for (let code = 0; code < 60; code++) settle({ action, outcome: "failed", code: `code_${code}` });
    for (const outcome of ["completed", "retry"]) settle({ action, outcome });
  }
  const before = countSeries(await scrape());
  for (let job = 0; job < 10_000; job++) {
    const isFailed = job % 3 === 0;
    settle({
      action: job % 5 === 0 ? `action-of-workspace-${job % 100}` : "run",
      outcome: isFailed ? "failed" : "completed",
      code: isFailed ? `job_${job}_of_workspace_${job % 100}` : null,
      waitMs: job,
      durationMs: job * 7,
    });
  }
  const text = await scrape();
  expect(countSeries(text)).toBe(before);
  expect(text).not.toMatch(/workspace|unheard-of/);
  expect(text).toContain('action="unknown",outcome="failed",code="other"');
});
