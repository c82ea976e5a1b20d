import { expect, test } from "vitest";
import { classifyFailure } from "./classify-failure.ts";
import { PermanentError, RateLimitedError, TransientError } from "./job-error.ts";

// What a job's end does not show at once. What each kind of thrown thing comes to is a case of the conformance suite.

test("a cause that says its kind says its code and its time as well", () => {
  const limited = new RateLimitedError("slow down", { code: "provider_quota", retryAfterMs: 60_000 });
  expect(classifyFailure(new Error("no answer", { cause: limited }))).toMatchObject({
    ...{ kind: "rate_limited", code: "provider_quota", retryAfterMs: 60_000, message: "no answer" },
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, "60", undefined])(
  "a time to wait of %o is none: a job's wait is a number, or the job would never come back",
  (retryAfterMs) => {
    const error = Object.assign(new TransientError("busy"), { retryAfterMs });
    expect(classifyFailure(error)).not.toHaveProperty("retryAfterMs");
  },
);

test.each(["ECONNRESET", "no such user", "", "a]b", `a${"b".repeat(64)}`])(
  "%j is no code, and the kind stands for it: programs group by codes, and a stored failure is read by its form",
  (code) => {
    expect(classifyFailure(new PermanentError("no", { code }))).toMatchObject({ code: "permanent" });
  },
);

test.each(["cancelled", "poison", "corrupt", "evicted", "quarantined", "child_failed"])(
  "no handler can say %s, which is the host's word for a job that never came to its handler's end",
  (code) => {
    expect(classifyFailure(new PermanentError("no", { code }))).toMatchObject({ code: "permanent" });
  },
);
