import { expect, test } from "vitest";
import { reportEnqueue } from "./measure-enqueue.ts";
import type { Measurement } from "./measurement.ts";
import { budgets, reportBudgets } from "./report.ts";

const measurement = (jobsPerSecond: number): Measurement => ({
  jobsPerSecond,
  cpuMicrosPerJob: 100,
  redisCommandsPerJob: 1,
  medianLatencyMs: 1,
});

/** Rounds in which every subject is as quick as raw BullMQ, but for those that are named. */
function measured(slower: Record<string, readonly number[]>): ReadonlyMap<string, readonly Measurement[]> {
  const labels = new Set(budgets.flatMap(({ baseline, subject }) => [baseline.label, subject.label]));
  return new Map([...labels].map((label) => [label, (slower[label] ?? Array(5).fill(1_000)).map(measurement)]));
}

const rowOf = (report: string, name: string) => report.split("\n").find((line) => line.startsWith(name)) ?? "";

test("a budget is kept or missed by the median of the rounds' ratios, and where half of them lie is shown", () => {
  const report = reportBudgets(
    measured({ host: [500, 950, 960, 940, 5_000], hostIdempotent: [690, 600, 650, 10, 9_000] }),
  );
  expect(rowOf(report, "1 ")).toMatch(/ 0\.95 +0\.94–0\.96 +>= 0\.90 +kept$/);
  expect(rowOf(report, "3 ")).toMatch(/ 0\.65 +0\.60–0\.69 +>= 0\.70 +MISSED$/);
});

test("the noise of the machine stands beside the budgets: raw BullMQ against itself", () => {
  const report = reportBudgets(measured({ "raw again": [100, 800, 1_000, 1_200, 3_000] }));
  expect(rowOf(report, "noise")).toMatch(/ 1\.00 +0\.80–1\.20 +1\.00$/);
});

test.each(["1", "2", "3", "4", "5", "6", "7"])("budget %s is reported", (number) => {
  expect(rowOf(reportBudgets(measured({})), `${number} `)).not.toBe("");
});

test("what a handler pays that asks for its trace is shown against one that does not, and no limit is claimed for it", () => {
  const row = rowOf(reportBudgets(measured({ hostTraced: Array(5).fill(500) })), "5 ");
  expect(row).toMatch(/^5 trace context asked for, not traced .* 0\.50 +0\.50–0\.50 +none: off is in 1$/);
});

test("single enqueues are held to 0.9 of a bulk, by the median of the rounds", () => {
  const round = (enqueue: number) => ({ addBulk: 1_000, add: 1_100, enqueue, enqueueFound: 480 });
  const report = reportEnqueue([round(950), round(100), round(960)]);
  expect(rowOf(report, "10 ")).toMatch(/: 0\.95 of addBulk \(0\.10–0\.96\), promised >= 0\.9: kept$/);
  expect(report).toMatch(/can be found: 0\.48 .* MISSED$/m);
});
