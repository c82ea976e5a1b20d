import { expect, test } from "vitest";
import { AbortedError } from "./abort-reason.ts";
import { PermanentError } from "./job-error.ts";
import { toReadableError } from "./readable-error.ts";

const throwing = (field: string) =>
  Object.defineProperty(new Error("no"), field, {
    get: () => {
      throw new Error("no field of yours");
    },
  });

test("an error that is sound is itself, so that its class goes on to tell what it is", () => {
  const errors = [
    new Error("no"),
    new PermanentError("no", { cause: new Error("why") }),
    Object.freeze(new Error("no")),
    new AbortedError("timeout", "late"),
  ];
  for (const error of errors) expect(toReadableError(error)).toBe(error);
});

test.each(["message", "stack", "cause", "code", "name", "failureKind"])(
  "an error whose %s cannot be read is one that can, with the rest of it",
  (field) => {
    const readable = toReadableError(throwing(field));
    expect(typeof readable.message).toBe("string");
    expect(typeof readable.stack).toBe("string");
    if (field !== "message") expect(readable.message).toBe("no");
  },
);

test("fields of another type are left out, and a stack of none is made", () => {
  const odd = Object.assign(new Error("no"), { stack: 5n, code: "gone", failureKind: "permanent" });
  expect(toReadableError(odd)).toMatchObject({ message: "no", code: "gone", failureKind: "permanent" });
  expect(toReadableError(odd).stack).toBe("Error: no");
  expect(toReadableError(Object.assign(new Error("no"), { message: Symbol("s") })).message).toBe(
    "an error without a message that can be read",
  );
});

test("what is megabytes is cut, three causes down as well, and says how much went", () => {
  const inner = new Error("a".repeat(5_000_000));
  const outer = new PermanentError("b", { code: "gone", cause: new Error("c", { cause: inner }) });
  const readable = toReadableError(outer);
  expect(readable).toMatchObject({ message: "b", code: "gone", failureKind: "permanent" });
  const cut = (readable.cause as Error).cause as Error;
  expect(cut.message).toMatch(/^a{2000}… \(4998000 characters more\)$/);
  expect(cut.stack?.length).toBeLessThan(8_100);
  expect(toReadableError("x".repeat(3_000)).message).toContain("(1000 characters more)");
});

test("causes that go round in a circle come to an end", () => {
  const error = new Error("a".repeat(3_000));
  error.cause = error;
  expect(toReadableError(error).message).toContain("1000 characters more");
});
