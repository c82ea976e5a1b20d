import { expect, test } from "vitest";
import { createRunningAttempts } from "./running-attempts.ts";

test("the end of an earlier start of a job leaves the later one within reach, and whatever ended an attempt first stays its reason", () => {
  const attempts = createRunningAttempts();
  const beganAt = Date.now();
  const first = attempts.begin("job", "run");
  const second = attempts.begin("job", "run");
  attempts.end("job", first);
  const [listed] = attempts.list();
  expect(listed).toEqual({ jobId: "job", action: "run", sinceMs: expect.any(Number) });
  expect(listed?.sinceMs).toBeGreaterThanOrEqual(beganAt);
  expect(attempts.abort("job", "cancelled")).toBe(true);
  attempts.abortAll("interrupted");
  expect([first.reason?.abortCause, second.reason?.abortCause]).toEqual(["lockLost", "cancelled"]);
  attempts.end("job", second);
  expect([attempts.size, attempts.abort("job", "cancelled")]).toEqual([0, false]);
});
