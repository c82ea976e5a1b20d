import { expect, test } from "vitest";
import { cronRuns } from "./cron-runs.ts";
import { parseCron } from "./parse-cron.ts";
import { findTimeZone } from "./time-zone.ts";

function runs(pattern: string, zone: string, from: string, count: number): string[] {
  const timeZone = findTimeZone(zone);
  if (!timeZone) throw new Error(`no zone ${zone}`);
  const found = cronRuns(parseCron(pattern), timeZone, Date.parse(from)).take(count);
  return [...found].map((instant) => new Date(instant).toISOString().slice(5, 16));
}

const newYork = "America/New_York";
const london = "Europe/London";
const lordHowe = "Australia/Lord_Howe";

// 2026: New York jumps on 8 March at 07:00Z and on 1 November at 06:00Z, London on 29 March and 25 October at 01:00Z, Lord Howe by half an
// hour on 4 April at 15:00Z and on 3 October at 15:30Z.
test.each([
  // A time of day that does not exist: once, at the first instant after the jump.
  [newYork, "30 2 * * *", "2026-03-08T00:00Z", ["03-08T07:00", "03-09T06:30"]],
  [newYork, "0,30 2 * * *", "2026-03-08T05:00Z", ["03-08T07:00", "03-09T06:00"]],
  [newYork, "30 2 * * *", "2026-03-08T07:00Z", ["03-08T07:00", "03-09T06:30"]],
  [newYork, "30 2 * * *", "2026-03-08T07:01Z", ["03-09T06:30"]],
  [london, "30 1 * * *", "2026-03-29T00:00Z", ["03-29T01:00", "03-30T00:30"]],
  [lordHowe, "15 2 * * *", "2026-10-03T14:00Z", ["10-03T15:30", "10-04T15:15"]],
  // One that exists twice: the first time.
  [newYork, "30 1 * * *", "2026-11-01T00:00Z", ["11-01T05:30", "11-02T06:30"]],
  [newYork, "0 1,13 * * *", "2026-11-01T04:00Z", ["11-01T05:00", "11-01T18:00", "11-02T06:00"]],
  [newYork, "30 1 * * *", "2026-11-01T05:45Z", ["11-02T06:30"]],
  [london, "30 1 * * *", "2026-10-25T00:00Z", ["10-25T00:30", "10-26T01:30"]],
  [lordHowe, "45 1 * * *", "2026-04-04T14:00Z", ["04-04T14:45", "04-05T15:15"]],
  // Weekly and yearly as well.
  [newYork, "0 1 * * SUN", "2026-11-01T00:00Z", ["11-01T05:00", "11-08T06:00"]],
  [newYork, "30 2 8 3 *", "2026-01-01T00:00Z", ["03-08T07:00", "03-08T07:30"]],
  // Every so often: in the repeated hour too.
  [
    newYork,
    "*/30 0-2 * * *",
    "2026-11-01T04:00Z",
    ["04:00", "04:30", "05:00", "05:30", "06:00", "06:30", "07:00", "07:30"].map((time) => `11-01T${time}`),
  ],
  [newYork, "0 * * * *", "2026-11-01T04:30Z", ["11-01T05:00", "11-01T06:00", "11-01T07:00"]],
  [newYork, "0 0-23 * * *", "2026-11-01T04:30Z", ["11-01T05:00", "11-01T06:00", "11-01T07:00"]],
  [london, "0 * * * *", "2026-10-24T23:30Z", ["10-25T00:00", "10-25T01:00", "10-25T02:00"]],
  [lordHowe, "*/15 1 * * *", "2026-04-04T14:30Z", ["04-04T14:30", "04-04T14:45", "04-04T15:00", "04-04T15:15"]],
  // And in no period that there is not.
  [newYork, "30 * * * *", "2026-03-08T06:00Z", ["03-08T06:30", "03-08T07:30", "03-08T08:30"]],
  [newYork, "*/30 1-3 * * *", "2026-03-08T06:00Z", ["03-08T06:00", "03-08T06:30", "03-08T07:00", "03-08T07:30"]],
  [lordHowe, "*/20 * * * *", "2026-10-03T15:00Z", ["10-03T15:10", "10-03T15:40", "10-03T16:00"]],
  // Unless the jump takes all its times of that day.
  [newYork, "*/20 2 * * *", "2026-03-08T00:00Z", ["03-08T07:00", "03-09T06:00"]],
  // UTC never jumps.
  ["UTC", "30 2 * * *", "2026-03-08T00:00Z", ["03-08T02:30", "03-09T02:30"]],
  ["UTC", "30 1 * * *", "2026-11-01T00:00Z", ["11-01T01:30", "11-02T01:30"]],
  // A day that a country left out altogether, and one whose midnight does not exist.
  ["Pacific/Apia", "0 9 * * *", "2011-12-29T12:00Z", ["12-29T19:00", "12-30T10:00", "12-30T19:00"]],
  ["Pacific/Apia", "0 0 * * *", "2011-12-29T12:00Z", ["12-30T10:00", "12-31T10:00"]],
  ["Asia/Beirut", "0 0 * * *", "2026-03-28T00:00Z", ["03-28T22:00", "03-29T21:00"]],
])("%s, %s from %s", (zone, pattern, from, expected) => {
  expect(runs(pattern, zone, from, expected.length)).toEqual(expected);
});

test("a year of any pattern has neither a repetition nor a step back, whatever the clocks do", () => {
  for (const zone of [newYork, london, lordHowe, "UTC", "Africa/Casablanca", "America/Sao_Paulo", "Pacific/Apia"]) {
    for (const pattern of ["*/20 */3 * * *", "0 0 * * *", "30 1,2 * * 0", "15 2 */3 * *", "* 1-3 1 * *"]) {
      const found = cronRuns(parseCron(pattern), findTimeZone(zone) ?? expect.fail(), Date.parse("2011-06-01T00:00Z"));
      const instants = [...found.take(500)];
      expect(instants).toEqual([...new Set(instants)].sort((one, other) => one - other));
    }
  }
});
