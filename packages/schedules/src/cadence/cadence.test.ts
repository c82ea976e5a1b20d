import { describe, expect, test } from "vitest";
import { type Cadence, cadenceSchema, nextRun, shortestGapMs } from "./cadence.ts";
import { previewRuns } from "./preview.ts";

const hour = 3_600_000;
const from = Date.parse("2026-03-07T12:00Z");

describe("a cadence", () => {
  test.each([
    [{ cron: "", timeZone: "UTC" }, "cron", "five fields"],
    [{ cron: "   " }, "cron", "got nothing"],
    [{ cron: "* * * * * *" }, "cron", "no seconds), got 6"],
    [{ cron: "@daily" }, "cron", "five fields"],
    [{ cron: "60 0 * * *" }, "cron", 'minute: expected 0 to 59, got "60"'],
    [{ cron: "0 24 * * *" }, "cron", "hour: expected 0 to 23"],
    [{ cron: "0 0 0 * *" }, "cron", "day of month: expected 1 to 31"],
    [{ cron: "0 0 * 13 *" }, "cron", "month: expected 1 to 12 or JAN to DEC"],
    [{ cron: "0 0 * * FUN" }, "cron", "day of week: expected 0 to 7 or SUN to SAT"],
    [{ cron: "*/0 * * * *" }, "cron", "above 0"],
    [{ cron: "5/10 * * * *" }, "cron", 'a step after "*" or a range'],
    [{ cron: "30-10 * * * *" }, "cron", "not above its last"],
    [{ cron: "1,,2 * * * *" }, "cron", "minute: expected a value"],
    [{ cron: "0 0 L * *" }, "cron", "day of month"],
    [{ cron: "0 0 30 2 *" }, "cron", "a date that exists"],
    [{ cron: "0 0 31 4,6,9,11 *" }, "cron", "a date that exists"],
    [{ cron: "0 3 * * *", timeZone: "Mars/Phobos" }, "timeZone", "IANA"],
    [{ cron: "0 3 * * *", timeZone: "+01:00" }, "timeZone", "IANA"],
    [{ cron: "0 3 * * *", timeZone: "" }, "timeZone", "IANA"],
    [{ everyMs: 60_000, timeZone: "UTC" }, "timeZone", "with cron only"],
    [{ everyMs: 60_000, cron: "0 3 * * *" }, "cron", "either cron or everyMs"],
    [{}, "cron", "either cron or everyMs"],
    [{ everyMs: 0 }, "everyMs", "100"],
    [{ everyMs: Number.NaN }, "everyMs", "number"],
  ])("%j is refused with a sentence about %s", (wrong, path, message) => {
    const issues = cadenceSchema.safeParse(wrong).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.join("."))).toContain(path);
    expect(issues.map((issue) => issue.message).join(" ")).toContain(message);
  });

  test.each<[string, string[]]>([
    ["0 0 29 2 *", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
    ["0 9 * * MON-FRI", ["2026-03-09T09:00Z", "2026-03-10T09:00Z"]],
    ["0 9 13 * 5", ["2026-03-13T09:00Z", "2026-03-20T09:00Z"]],
    ["0 9 * * 7", ["2026-03-08T09:00Z", "2026-03-15T09:00Z"]],
    ["15-45/15 8 1 jan,Jul *", ["2026-07-01T08:15Z", "2026-07-01T08:30Z"]],
  ])("%s is due as in every cron", (cron, expected) => {
    const runs = previewRuns({ cron, timeZone: "UTC" }, from, from, 2);
    expect(runs.map(({ utc }) => Date.parse(utc))).toEqual(expected.map((text) => Date.parse(text)));
  });

  test("an interval is counted from its beginning, however late it is asked", () => {
    const cadence: Cadence = { everyMs: hour };
    expect(nextRun(cadence, from, from)).toBe(from + hour);
    expect(nextRun(cadence, from, from + hour)).toBe(from + 2 * hour);
    expect(nextRun(cadence, from, from + 5.5 * hour)).toBe(from + 6 * hour);
  });

  test("its shortest gap is the closest that two runs come, also over midnight", () => {
    expect(shortestGapMs({ cron: "59 23,0 * * *", timeZone: "UTC" }, from)).toBe(hour);
    expect(shortestGapMs({ cron: "0,1 5 * * *", timeZone: "UTC" }, from)).toBe(60_000);
    expect(shortestGapMs({ everyMs: 250 }, from)).toBe(250);
  });
});

test("a preview shows local time with its offset, and UTC, on both sides of a jump", () => {
  expect(previewRuns({ cron: "30 2 * * *", timeZone: "America/New_York" }, from, from, 2)).toEqual([
    { utc: "2026-03-08T07:00:00.000Z", local: "2026-03-08T03:00:00-04:00" },
    { utc: "2026-03-09T06:30:00.000Z", local: "2026-03-09T02:30:00-04:00" },
  ]);
  const india = previewRuns({ cron: "0 9 * * *", timeZone: "Asia/Kolkata" }, from, from, 1);
  expect(india).toEqual([{ utc: "2026-03-08T03:30:00.000Z", local: "2026-03-08T09:00:00+05:30" }]);
});
