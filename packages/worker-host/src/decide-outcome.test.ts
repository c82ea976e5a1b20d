import { expect, test } from "vitest";
import type { ClassifiedFailure } from "./classify-failure.ts";
import { type AttemptFacts, decideOutcome, deferralLimits } from "./decide-outcome.ts";

const first: AttemptFacts = { isFinalAttempt: false, isIdempotent: false, starts: 1, ageMs: 0 };
const last = { ...first, isFinalAttempt: true };
const idempotent = { ...first, isIdempotent: true };
const worn = { ...first, starts: deferralLimits.starts };
const old = { ...first, starts: 25, ageMs: deferralLimits.ageMs };
const late = { ...old, starts: 24, ageMs: 7 * deferralLimits.ageMs };

function failure(kind: ClassifiedFailure["kind"], retryAfterMs?: number): ClassifiedFailure {
  return { kind, code: kind, message: "", error: new Error(), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

test.each<[kind: ClassifiedFailure["kind"], facts: AttemptFacts, outcome: string]>([
  ["permanent", first, "failed"],
  ["transient", first, "retry"],
  ["transient", last, "failed"],
  ["ambiguous", first, "failed"],
  ["ambiguous", idempotent, "retry"],
  ["ambiguous", { ...idempotent, isFinalAttempt: true }, "failed"],
  ["rate_limited", first, "deferred"],
  ["rate_limited", last, "deferred"],
  ["rate_limited", worn, "failed"],
  ["rate_limited", old, "failed"],
  ["rate_limited", late, "deferred"],
  ["contention", last, "deferred"],
  ["contention", worn, "failed"],
  ["contention", old, "failed"],
  ["contention", late, "deferred"],
  ["cancelled", last, "cancelled"],
  ["interrupted", last, "handed_back"],
  ["lock_lost", first, "lost"],
])("%s with %o is %s", (kind, facts, outcome) => {
  expect(decideOutcome(failure(kind), facts).outcome).toBe(outcome);
});

test.each([
  [0.4, 1],
  [1_500.4, 1_501],
  [1e12, 3_600_000],
])("a stated wait of %d ms becomes %d ms", (asked, delayMs) => {
  expect(decideOutcome(failure("rate_limited", asked), first)).toEqual({ outcome: "deferred", delayMs });
});

test.each([0, -5, -1e12])(
  "a stated wait of %d ms is none: the unasked one holds, and no job burns its starts",
  (asked) => {
    const decided = decideOutcome(failure("rate_limited", asked), first);
    expect(decided.outcome === "deferred" && decided.delayMs).toBeGreaterThanOrEqual(1_000);
  },
);

test.each([
  ["transient", 90_000, 90_000],
  ["transient", 1e12, 3_600_000],
  ["ambiguous", -5, 0],
] as const)(
  "a stated wait of a failure that is %s, %d ms, is the least wait before its next attempt, and the last one ends all the same",
  (kind, asked, leastDelayMs) => {
    expect(decideOutcome(failure(kind, asked), idempotent)).toEqual({ outcome: "retry", leastDelayMs });
    expect(decideOutcome(failure(kind, asked), { ...idempotent, isFinalAttempt: true })).toEqual({ outcome: "failed" });
  },
);

test("without a stated time the wait grows with the starts, and the starts that a job has last for about a day", () => {
  const waits = Array.from({ length: deferralLimits.starts - 1 }, (_, index) => {
    const decided = decideOutcome(failure("contention"), { ...first, starts: index + 1 });
    return decided.outcome === "deferred" ? decided.delayMs : Number.NaN;
  });
  expect(waits[0]).toBeLessThanOrEqual(1_125);
  expect(Math.max(...waits)).toBeLessThanOrEqual(17 * 60_000);
  const sumMs = waits.reduce((sum, waitMs) => sum + waitMs);
  expect(sumMs).toBeGreaterThan(0.9 * deferralLimits.ageMs);
  expect(sumMs).toBeLessThan(1.1 * deferralLimits.ageMs);
  expect(new Set(waits.slice(20)).size).toBeGreaterThan(50);
});
