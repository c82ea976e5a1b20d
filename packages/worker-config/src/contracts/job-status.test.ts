import { describe, expect, test } from "vitest";
import { formatJobFailure } from "./job-failure.ts";
import { formatJobSkip } from "./job-skip.ts";
import { jobStatuses, type StoredJob, toJobStatus } from "./job-status.ts";

const stored: StoredJob = {
  id: "job-1",
  name: "sendEmail",
  data: { type: "sendEmail", data: {} },
  attemptsMade: 0,
  progress: 0,
  timestamp: 1_000,
  returnvalue: null,
};

const minute = 60_000;

describe("a status", () => {
  // BullMQ's state, attempts that ended, code of the last failure → our status
  test.each([
    ["waiting", 0, undefined, "pending"],
    ["delayed", 0, undefined, "pending"],
    ["prioritized", 0, undefined, "pending"],
    ["waiting-children", 0, undefined, "pending"],
    ["unknown", 0, undefined, "pending"],
    ["waiting", 1, "timeout", "retrying"],
    ["delayed", 2, "timeout", "retrying"],
    ["prioritized", 1, "unknown", "retrying"],
    ["active", 0, undefined, "running"],
    ["active", 1, "timeout", "running"],
    ["completed", 1, undefined, "success"],
    ["completed", 3, "timeout", "success"],
    ["completed", 1, "cancelled", "success"],
    ["failed", 0, "poison", "failed"],
    ["failed", 3, "timeout", "failed"],
    ["failed", 1, "cancelled", "cancelled"],
  ])("for BullMQ's %s after %i attempts, last failure %s, is %s", (state, attemptsMade, code, expected) => {
    const failedReason = code && formatJobFailure({ code, message: "it broke" });
    const status = toJobStatus("email", { ...stored, attemptsMade, failedReason }, state);
    expect(status.status).toBe(expected);
    expect(jobStatuses.options).toContain(expected);
    expect(status.attempts).toBe(attemptsMade);
  });

  test("holds nothing but what is named, and null for what has not happened", () => {
    expect(toJobStatus("email", stored, "waiting")).toEqual({
      jobId: "job-1",
      queue: "email",
      action: "sendEmail",
      status: "pending",
      attempts: 0,
      progress: 0,
      createdAt: "1970-01-01T00:00:01.000Z",
      dueAt: null,
      startedAt: null,
      finishedAt: null,
      result: null,
      error: null,
    });
  });

  test("says when a job is due that waits for its time, and not of one that is called off", () => {
    const delayed = { ...stored, dueMs: 5_000 };
    expect(toJobStatus("email", delayed, "delayed").dueAt).toBe("1970-01-01T00:00:05.000Z");
    expect(toJobStatus("email", { ...delayed, attemptsMade: 1 }, "delayed").dueAt).toBe("1970-01-01T00:00:05.000Z");
    const deferredFailure = formatJobFailure({ code: "cancelled", message: "" });
    expect(toJobStatus("email", { ...delayed, deferredFailure }, "delayed")).toMatchObject({
      status: "cancelled",
      dueAt: null,
    });
  });

  test.each([
    [95, "completed", 100],
    [95, "active", 95],
    [95, "failed", 95],
    [0, "completed", 100],
    [0, "failed", 0],
    [{ rows: 95 }, "completed", { rows: 95 }],
  ])("of a job whose handler last said %j, and that is %s, has the progress %j", (progress, state, expected) => {
    expect(toJobStatus("email", { ...stored, progress }, state).progress).toEqual(expected);
  });

  test("tells its times in UTC", () => {
    const status = toJobStatus("email", { ...stored, processedOn: 2_000, finishedOn: 3_000 }, "completed");
    expect(status).toMatchObject({ startedAt: "1970-01-01T00:00:02.000Z", finishedAt: "1970-01-01T00:00:03.000Z" });
  });

  test("does not show the payload", () => {
    const status = toJobStatus("email", { ...stored, data: { type: "sendEmail", data: "MARKER" } }, "waiting");
    expect(JSON.stringify(status)).not.toContain("MARKER");
  });
});

describe("a result", () => {
  const succeeded = { ...stored, finishedOn: 5 * minute, returnvalue: { messageId: "m" } };
  const withTtl = { ...succeeded, data: { type: "sendEmail", data: {}, run: { resultTtlMs: minute } } };

  test("is shown of a success only", () => {
    expect(toJobStatus("email", succeeded, "completed").result).toEqual({ messageId: "m" });
    expect(toJobStatus("email", succeeded, "active").result).toBeNull();
    expect(toJobStatus("email", succeeded, "failed").result).toBeNull();
  });

  test("is hidden once its lifetime is over, and the success stays", () => {
    expect(toJobStatus("email", withTtl, "completed", 6 * minute).result).toEqual({ messageId: "m" });
    const later = toJobStatus("email", withTtl, "completed", 6 * minute + 1);
    expect([later.status, later.result]).toEqual(["success", null]);
  });

  test("of a skipped job is what an earlier job returned, beside why it was skipped", () => {
    const reason = { code: "already_done", message: "The effect has happened." };
    const returnvalue = formatJobSkip({ ...reason, result: { messageId: "m" } });
    const status = toJobStatus("email", { ...succeeded, returnvalue }, "completed");
    expect(status).toMatchObject({ status: "skipped", result: { messageId: "m" }, error: reason });
  });

  test("without a lifetime is shown for as long as the job is kept", () => {
    expect(toJobStatus("email", succeeded, "completed", Number.MAX_SAFE_INTEGER).result).toEqual({ messageId: "m" });
  });

  test.each([undefined, null, "x", {}, { type: "t", data: {}, run: { resultTtlMs: "soon" } }])(
    "of a job whose record another program wrote (%j) is shown",
    (data) => {
      expect(toJobStatus("email", { ...succeeded, data }, "completed").result).toEqual({ messageId: "m" });
    },
  );

  test.each([0, false, "", []])("that is %j is not taken for none", (returnvalue) => {
    expect(toJobStatus("email", { ...succeeded, returnvalue }, "completed").result).toEqual(returnvalue);
  });
});

describe("an error", () => {
  test.each([
    ["[timeout] took longer than 30000 ms", "timeout", "took longer than 30000 ms"],
    ["[smtp_550] no such mailbox\nsecond line", "smtp_550", "no such mailbox\nsecond line"],
    ["[code] [inner] text", "code", "[inner] text"],
    ["[code] ", "code", ""],
    [
      "job stalled more than allowable limit",
      "poison",
      "At each of its starts the job's process died, or was too busy to keep the job's lock.",
    ],
    [
      "job started more than allowable limit",
      "poison",
      "The job was started more often than any job may be, and came to no end.",
    ],
    ["connect ECONNREFUSED", "unknown", "connect ECONNREFUSED"],
    ["[Not A Code] text", "unknown", "[Not A Code] text"],
    ["[code]text", "unknown", "[code]text"],
  ])("written as %j has the code %s", (failedReason, code, message) => {
    expect(toJobStatus("email", { ...stored, failedReason }, "failed").error).toEqual({ code, message });
  });

  test("is shown while the job is tried again, and gone with its success", () => {
    const failedOnce = { ...stored, attemptsMade: 1, failedReason: "[timeout] too slow" };
    expect(toJobStatus("email", failedOnce, "delayed").error?.code).toBe("timeout");
    expect(toJobStatus("email", failedOnce, "active").error?.code).toBe("timeout");
    expect(toJobStatus("email", failedOnce, "completed").error).toBeNull();
  });
});
