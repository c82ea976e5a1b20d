import { expect, test } from "vitest";
import { formatJobFailure, parseJobFailure } from "./job-failure.ts";

test("a failure comes back as it was written, over several lines and with brackets in it", () => {
  for (const message of ["The address bounced.", "[nested] first\nsecond", ""]) {
    const failure = { code: "bounced_2", message };
    expect(parseJobFailure(formatJobFailure(failure))).toEqual(failure);
  }
});

test("the engine's own failures get a code that programs can read", () => {
  expect(parseJobFailure("job stalled more than allowable limit").code).toBe("poison");
  expect(parseJobFailure("job started more than allowable limit").code).toBe("poison");
  expect(parseJobFailure("child {millrace}:email:welcome-1 failed").code).toBe("child_failed");
});

test("a failure of a foreign worker is unknown and keeps its text", () => {
  for (const text of ["boom", "[Not A Code] boom", "[] boom", ""]) {
    expect(parseJobFailure(text)).toEqual({ code: "unknown", message: text });
  }
});
