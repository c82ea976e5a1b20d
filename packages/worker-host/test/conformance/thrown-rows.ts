import { UnrecoverableError } from "bullmq";
import {
  AmbiguousError,
  ContentionError,
  PermanentError,
  RateLimitedError,
  TransientError,
} from "../../src/job-error.ts";

const nested = () => new Error("a", { cause: new Error("b", { cause: new PermanentError("c", { code: "gone" }) }) });
const secondCopy = () => Object.assign(new Error("no"), { failureKind: "permanent", code: "gone" });
const circular = () => {
  const error = new Error("no");
  error.cause = error;
  return error;
};
const unreadable = () =>
  Object.defineProperty(new Error("no"), "message", {
    get: () => {
      throw new Error("not for you");
    },
  });
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const callingOff = (code?: string) => Object.assign(new Error("no"), { failureKind: "cancelled", code });

/** What a handler throws, and what becomes of its job. */
export interface Row {
  readonly cause: string;
  readonly thrown: () => unknown;
  readonly status: string;
  readonly code: string | undefined;
  /** Attempts that counted, of the two that are allowed. */
  readonly attempts: number;
}

const dead = (cause: string, thrown: () => unknown, code = "handler_error", attempts = 2): Row => ({
  cause,
  thrown,
  status: "failed",
  code,
  attempts,
});
const cancelled = (cause: string, thrown: () => unknown): Row => ({
  ...dead(cause, thrown, "cancelled", 1),
  status: "cancelled",
});
const succeeding = (cause: string, thrown: () => unknown, attempts: number): Row => ({
  ...dead(cause, thrown, undefined, attempts),
  status: "success",
  code: undefined,
});

/** At every start. */
export const thrownAlways: readonly Row[] = [
  dead("an error", () => new Error("no")),
  dead("null", () => null),
  dead("undefined", () => undefined),
  dead("a string", () => "no"),
  dead("a number", () => 5),
  dead("a frozen object", () => Object.freeze({ a: 1 })),
  dead("a frozen error", () => Object.freeze(new Error("no"))),
  dead("an error that is its own cause", circular),
  dead("an error whose message throws", unreadable),
  dead("an error that answers once and throws the second time", () => {
    let asked = 0;
    return Object.defineProperty(new Error("no"), "isSkip", {
      get: () => {
        if (asked++ > 0) throw new Error("not for you");
        return false;
      },
    });
  }),
  dead("a Proxy that was revoked", revoked),
  dead("an error whose prototype throws", () =>
    Object.setPrototypeOf(new Error("no"), new Proxy({}, { getPrototypeOf: () => unreadable() && revoked() })),
  ),
  dead("an error whose stack is a number", () => Object.assign(new Error("no"), { stack: 5n })),
  dead("an error whose message is megabytes", () => new Error("no".repeat(1_000_000))),
  dead(
    "a permanent error under a code of the host's own",
    () => new PermanentError("no", { code: "poison" }),
    "permanent",
    1,
  ),
  dead(
    "a permanent error under the code of what lies in quarantine",
    () => new PermanentError("no", { code: "quarantined" }),
    "permanent",
    1,
  ),
  dead("a transient error with a code", () => new TransientError("no", { code: "busy" }), "busy"),
  dead("a permanent error", () => new PermanentError("no", { code: "gone" }), "gone", 1),
  dead("a permanent error three causes down", nested, "gone", 1),
  dead("a permanent error of a second copy of the package", secondCopy, "gone", 1),
  dead("BullMQ's own unrecoverable error", () => new UnrecoverableError(""), "permanent", 1),
  dead(
    "that of a second copy of BullMQ",
    () => Object.assign(new Error("no"), { name: "UnrecoverableError" }),
    "permanent",
    1,
  ),
  dead("an error that BullMQ would take for its rate limit", () => new Error("bullmq:rateLimitExceeded")),
  dead("an error that BullMQ would take for a move", () => Object.assign(new Error("no"), { name: "DelayedError" })),
  dead("an ambiguous error", () => new AmbiguousError("no answer"), "ambiguous", 1),
  cancelled("that somebody called it off", () => callingOff()),
  cancelled("that somebody called it off, under a code", () => callingOff("user_left")),
];

/** At the first start alone. */
export const thrownOnce: readonly Row[] = [
  succeeding("an error", () => new Error("no"), 2),
  succeeding("a rate limit", () => new RateLimitedError("slow down", { retryAfterMs: 1 }), 1),
  succeeding("contention", () => new ContentionError("locked", { retryAfterMs: 1 }), 1),
];
