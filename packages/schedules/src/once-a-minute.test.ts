import { expect, test } from "vitest";
import { onceAMinute } from "./once-a-minute.ts";

test("the same is said again after a minute, and something else at once", () => {
  let now = 0;
  const maySay = onceAMinute(() => now);
  expect([maySay("a"), maySay("a"), maySay("b")]).toEqual([true, false, true]);
  now = 59_999;
  expect(maySay("a")).toBe(false);
  now = 60_000;
  expect([maySay("a"), maySay("a")]).toEqual([true, false]);
});
