import { expect, test } from "vitest";
import { backoffDelayMs, backoffStrategy, plannedWaitsMs } from "./backoff.ts";

test("an explicit list is followed, and its last entry repeats", () => {
  expect([1, 2, 3, 4].map((attempts) => backoffDelayMs(attempts, [10_000, 30_000, 60_000]))).toEqual([
    10_000, 30_000, 60_000, 60_000,
  ]);
});

test("no job waits longer than an enqueue may ask for, whatever its record says: one of the year 33715 would never come back", () => {
  expect(backoffDelayMs(1, [1e15])).toBe(30 * 24 * 60 * 60_000);
});

test("without a list the ceiling doubles from one second up to fifteen minutes", () => {
  expect([1, 2, 3, 11, 50].map((attempts) => backoffDelayMs(attempts, undefined, () => 1))).toEqual([
    1_000, 2_000, 4_000, 900_000, 900_000,
  ]);
});

test("jitter keeps the wait in the upper half, so that nothing comes back at once", () => {
  expect(backoffDelayMs(1, undefined, () => 0)).toBe(500);
});

test("a thousand jobs that fail together do not come back together", () => {
  const delays = Array.from({ length: 1_000 }, () => backoffDelayMs(5));
  expect(new Set(delays).size).toBeGreaterThan(500);
});

test("a record of another producer, without our envelope, gets the default waits", () => {
  for (const data of [null, "text", { run: { retryIntervalsMs: "soon" } }]) {
    expect(backoffStrategy(1, "jittered", undefined, { data })).toBeGreaterThanOrEqual(500);
  }
});

test("a job's own list is followed by BullMQ's strategy, and a failure can ask for a longer wait but for no shorter one", () => {
  const job = { data: { run: { retryIntervalsMs: [10_000, 30_000] } } };
  const asking = (leastDelayMs: unknown) => Object.assign(new Error("busy"), { leastDelayMs });
  const waits = [undefined, asking(undefined), asking(1), asking(60_000)].map((error) =>
    backoffStrategy(2, "jittered", error, job),
  );
  expect(waits).toEqual([30_000, 30_000, 30_000, 60_000]);
});

test("what a job was meant to wait so far is the sum of its waits, the longest that each may be", () => {
  expect([0, 1, 3].map((made) => plannedWaitsMs(made, { run: { retryIntervalsMs: [10_000, 30_000] } }))).toEqual([
    0, 10_000, 70_000,
  ]);
  expect([0, 1, 3].map((made) => plannedWaitsMs(made, null))).toEqual([0, 1_000, 7_000]);
});
