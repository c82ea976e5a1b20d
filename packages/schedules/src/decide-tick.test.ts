import { expect, test } from "vitest";
import { decideTick } from "./decide-tick.ts";
import type { MissedPolicy } from "./schedule.ts";

const minute = 60_000;
const at = (minutes: number) => minutes * minute;
/** Due every ten minutes from minute 10 on; decided at `nowMinutes`. */
const decide = (missed: MissedPolicy, nowMinutes: number) =>
  decideTick({ cadence: { everyMs: at(10) }, missed }, { anchorMs: 0, dueMs: at(10) }, at(nowMinutes));
const all = { all: { max: 3, withinMs: at(25) } };

test.each<[string, MissedPolicy, number, number[], number, number]>([
  ["on its time, to the millisecond", "skip", 10, [10], 0, 20],
  ["on its time, under every policy", "once", 10, [10], 0, 20],
  ["on its time, under every policy", all, 10, [10], 0, 20],
  ["half a minute late, which is on time", "skip", 10.5, [10], 0, 20],
  ["five minutes late, skip", "skip", 15, [], 1, 20],
  ["five minutes late, once", "once", 15, [10], 0, 20],
  ["after four due times, exactly on the last, skip", "skip", 40, [40], 3, 50],
  ["after four due times, skip", "skip", 45, [], 4, 50],
  ["after four due times, once", "once", 45, [40], 3, 50],
  ["after four due times, all of three within 25 minutes", all, 45, [20, 30, 40], 1, 50],
  ["after four due times, later", all, 49, [30, 40], 2, 50],
  ["before its time", "once", 5, [], 0, 10],
])("%s", (_, missed, now, runs, missedCount, next) => {
  const late = runs.filter((run) => now - run >= 5).length;
  expect(decide(missed, now)).toEqual({ runs: runs.map(at), late, missed: missedCount, nextDueMs: at(next) });
});

test("a year of missed minutes is counted, and no more than asked for is made up", () => {
  const from = Date.parse("2025-01-01T00:00Z");
  const now = Date.parse("2026-01-01T00:00Z");
  const cadence = { cron: "* * * * *", timeZone: "Europe/Berlin" };
  const { runs, missed } = decideTick({ cadence, missed: "once" }, { anchorMs: from, dueMs: from }, now);
  expect([runs, missed]).toEqual([[now], 365 * 24 * 60]);
});
