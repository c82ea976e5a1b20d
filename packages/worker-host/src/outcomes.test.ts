import { createLogger } from "@millrace/logger";
import { defineQueue, parseJobFailure, parseJobSkip } from "@millrace/worker-config/contracts";
import { UnrecoverableError } from "bullmq";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";
import { AmbiguousError, ContentionError, PermanentError, RateLimitedError, TransientError } from "./job-error.ts";

const data = z.object({ text: z.string(), workspaceId: z.string().optional(), key: z.string().optional() });
const contract = defineQueue("default", {
  run: {
    data,
    result: z.object({ echo: z.string() }),
    timeout: 10_000,
    workspaceId: ({ workspaceId }) => workspaceId,
  },
  keyed: { data, idempotencyKey: ({ key }) => key },
});
const { raw, work, add, ended, finished } = useQueue(contract);

const workspaces = {
  workspaceOf: async () => undefined,
  standingOf: async (workspaceId: string) => {
    if (workspaceId === "blocked") return { standing: "blocked", ownerId: "owner" } as const;
    if (workspaceId === "unknowable")
      throw new ContentionError("no answer", { code: "lookup_failed", retryAfterMs: 1 });
    return { standing: workspaceId === "gone" ? "gone" : "active" } as const;
  },
};

interface Expected {
  readonly ends: "completed" | "skipped" | "failed";
  readonly code?: string;
  /** Attempts that counted, of the two that are allowed. */
  readonly attempts: number;
  /** Runs of the handler. */
  readonly runs: number;
}

const dead = (code: string, attempts = 2): Expected => ({ ends: "failed", code, attempts, runs: attempts });
const nested = () => new Error("a", { cause: new Error("b", { cause: new PermanentError("c", { code: "gone" }) }) });
const secondCopy = () => Object.assign(new Error("no"), { failureKind: "permanent", code: "gone" });
const circular = () => {
  const error = new Error("no");
  error.cause = error;
  return error;
};

/** One line per cause: what a handler throws at its first run, or always, and what becomes of the job. */
test.each<[cause: string, thrown: () => unknown, expected: Expected]>([
  ["an error", () => new Error("no"), dead("handler_error")],
  ["null", () => null, dead("handler_error")],
  ["undefined", () => undefined, dead("handler_error")],
  ["a string", () => "no", dead("handler_error")],
  ["a number", () => 5, dead("handler_error")],
  ["a frozen object", () => Object.freeze({ a: 1 }), dead("handler_error")],
  ["a frozen error", () => Object.freeze(new Error("no")), dead("handler_error")],
  ["an error that is its own cause", circular, dead("handler_error")],
  ["a transient error with a code", () => new TransientError("no", { code: "busy" }), dead("busy")],
  ["a permanent error", () => new PermanentError("no", { code: "gone" }), dead("gone", 1)],
  ["a permanent error three causes down", nested, dead("gone", 1)],
  ["a permanent error of a second copy of the package", secondCopy, dead("gone", 1)],
  ["BullMQ's own unrecoverable error", () => new UnrecoverableError(""), dead("permanent", 1)],
  [
    "an error that BullMQ would take for its rate limit",
    () => new Error("bullmq:rateLimitExceeded"),
    dead("handler_error"),
  ],
  ["an error that BullMQ would take for a move", () => named("DelayedError"), dead("handler_error")],
  ["an ambiguous error", () => new AmbiguousError("no answer"), dead("ambiguous", 1)],
])(
  "%s that a handler throws ends as a dead letter with a code, after the right number of attempts",
  async (_, thrown, expected) => {
    let runs = 0;
    const throwing = async () => {
      runs += 1;
      throw thrown();
    };
    await work({ run: throwing, keyed: throwing });
    const job = await finished("run", { text: "a" });
    const state = await job.getState();
    expect({ ends: state, code: parseJobFailure(job.failedReason).code, attempts: job.attemptsMade, runs }).toEqual(
      expected,
    );
  },
);

function named(name: string): Error {
  return Object.assign(new Error("no"), { name });
}

test.each<[cause: string, error: () => unknown, expected: Expected]>([
  ["failed once", () => new Error("no"), { ends: "completed", attempts: 2, runs: 2 }],
  [
    "was rate limited",
    () => new RateLimitedError("slow down", { retryAfterMs: 1 }),
    { ends: "completed", attempts: 1, runs: 2 },
  ],
  [
    "was held up by another",
    () => new ContentionError("locked", { retryAfterMs: 1 }),
    { ends: "completed", attempts: 1, runs: 2 },
  ],
])("a job that %s at its first start completes at its second", async (_, error, expected) => {
  let runs = 0;
  const handler = async () => {
    runs += 1;
    if (runs === 1) throw error();
    return { echo: "" };
  };
  await work({ run: handler, keyed: async () => {} });
  const job = await finished("run", { text: "a" });
  expect({ ends: await job.getState(), attempts: job.attemptsMade, runs }).toEqual(expected);
});

test.each<[cause: string, workspaceId: string | undefined, expected: Omit<Expected, "attempts">]>([
  ["has no workspace", undefined, { ends: "completed", runs: 1 }],
  ["belongs to an active workspace", "active", { ends: "completed", runs: 1 }],
  ["belongs to a blocked owner's workspace", "blocked", { ends: "skipped", code: "owner_blocked", runs: 0 }],
  ["belongs to a workspace that is gone", "gone", { ends: "skipped", code: "workspace_gone", runs: 0 }],
])("a job that %s is run or skipped accordingly", async (_, workspaceId, expected) => {
  let runs = 0;
  const handler = async () => {
    runs += 1;
    return { echo: "" };
  };
  await work({ run: handler, keyed: async () => {} }, { workspaces });
  const job = await finished("run", { text: "a", workspaceId });
  const skip = parseJobSkip(job.returnvalue);
  expect({ ends: skip ? "skipped" : await job.getState(), ...(skip && { code: skip.code }), runs }).toEqual(expected);
});

test("a job whose workspace cannot be looked up is deferred, without an attempt and without running", async () => {
  let runs = 0;
  let isAnswering = false;
  const asked = Promise.withResolvers<void>();
  const flaky = {
    ...workspaces,
    standingOf: async () => {
      asked.resolve();
      return isAnswering ? ({ standing: "active" } as const) : workspaces.standingOf("unknowable");
    },
  };
  const run = async () => {
    runs += 1;
    return { echo: "" };
  };
  await work({ run, keyed: async () => {} }, { workspaces: flaky });
  const jobId = await add("run", { text: "a", workspaceId: "any" });
  await asked.promise;
  isAnswering = true;
  const job = await ended(jobId);
  expect([await job.getState(), job.attemptsMade, runs, job.attemptsStarted > 1]).toEqual(["completed", 1, 1, true]);
});

test("housekeeping runs whoever is blocked, because its contract says so", async () => {
  const housekeeping = defineQueue(contract.name, contract.actions, { isHousekeeping: true });
  await work({ run: async () => ({ echo: "ran" }), keyed: async () => {} }, { workspaces }, housekeeping);
  const job = await finished("run", { text: "a", workspaceId: "blocked" });
  expect(job.returnvalue).toEqual({ echo: "ran" });
});

test("an unknown action is tried again, because a newer worker may know it", async () => {
  await work({ run: async () => ({ echo: "" }), keyed: async () => {} });
  const added = await raw.add("later", { type: "later", data: {} }, { attempts: 2, backoff: 1 });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([2, "unknown_action"]);
});

test.each<[what: string, data: unknown]>([
  ["data that its schema refuses", { type: "run", data: { text: 5 } }],
  ["a type that is not the job's name", { type: "other", data: { text: "a" } }],
  ["no envelope", "text"],
])("a job with %s is dead at once, and its payload is not in the reason", async (_, payload) => {
  await work({ run: async () => ({ echo: "" }), keyed: async () => {} });
  const added = await raw.add("run", payload, { attempts: 3, backoff: 1 });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([1, "invalid_data"]);
});

test("an ambiguous failure of an action with an idempotency key is tried again", async () => {
  let runs = 0;
  const keyed = async () => {
    runs += 1;
    if (runs === 1) throw new AmbiguousError("no answer");
  };
  await work({ run: async () => ({ echo: "" }), keyed });
  const job = await finished("keyed", { text: "a", key: "ambiguous-once" });
  expect([await job.getState(), runs, job.attemptsMade]).toEqual(["completed", 2, 2]);
});

test("a job that is deferred for ever is a dead letter after a hundred starts, with the code of what held it up", async () => {
  const run = async () => {
    throw new RateLimitedError("slow down", { code: "provider_quota", retryAfterMs: 1 });
  };
  const jobId = await add("run", { text: "a" }, { attempts: 5 });
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), "ats", 97]);
  await work({ run, keyed: async () => {} });
  const job = await ended(jobId);
  const { code } = parseJobFailure(job.failedReason);
  expect([job.attemptsStarted, job.attemptsMade, code]).toEqual([100, 1, "provider_quota"]);
});

test("no way back into the queue is endless: the 251st start of a job is refused as poison", async () => {
  let runs = 0;
  const run = async () => {
    runs += 1;
    return { echo: "" };
  };
  const jobId = await add("run", { text: "a" }, { attempts: 5 });
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), "ats", 250]);
  await work({ run, keyed: async () => {} });
  expect([parseJobFailure((await ended(jobId)).failedReason).code, runs]).toEqual(["poison", 0]);
});

test("a job that is too old to be deferred once more is a dead letter with its own code", async () => {
  const run = async () => {
    throw new RateLimitedError("slow down", { code: "provider_quota", retryAfterMs: 1 });
  };
  await work({ run, keyed: async () => {} });
  const twoDaysAgo = Date.now() - 2 * 24 * 60 * 60_000;
  const added = await raw.add("run", { type: "run", data: { text: "a" } }, { attempts: 5, timestamp: twoDaysAgo });
  const job = await ended(added.id ?? "");
  expect([job.attemptsMade, parseJobFailure(job.failedReason).code]).toEqual([1, "provider_quota"]);
});

test("a deferred job waits as long as it was told to, and no attempt is used up", async () => {
  const starts: number[] = [];
  const run = async (_: unknown, { attempt }: JobContext) => {
    starts.push(performance.now());
    if (starts.length < 4) throw new RateLimitedError("slow down", { retryAfterMs: 20 });
    return { echo: `attempt ${attempt}` };
  };
  await work({ run, keyed: async () => {} });
  const job = await finished("run", { text: "a" }, { attempts: 1 });
  expect([job.returnvalue, job.attemptsMade]).toEqual([{ echo: "attempt 1" }, 1]);
  for (const [index, start] of starts.slice(1).entries()) {
    expect(start - (starts[index] ?? 0)).toBeGreaterThanOrEqual(19);
  }
});

test("a result that its schema refuses is dropped, and the effect is not repeated for it", async () => {
  let runs = 0;
  const run = async () => {
    runs += 1;
    // A handler in plain JavaScript can return anything.
    return { echo: 1n } as unknown as { echo: string };
  };
  await work({ run, keyed: async () => {} });
  const job = await finished("run", { text: "a" });
  expect([await job.getState(), job.returnvalue, runs]).toEqual(["completed", null, 1]);
});

test("a job that fails at all of its attempts is reported as failed once, for an alert to count", async () => {
  const outcomes: string[] = [];
  const log = createLogger({
    level: "info",
    format: "json",
    destination: { write: (line) => outcomes.push(JSON.parse(line).outcome) },
  });
  const run = async () => {
    throw new Error("no");
  };
  await work({ run, keyed: async () => {} }, { log });
  await finished("run", { text: "a" }, { attempts: 3 });
  expect(outcomes.filter(Boolean)).toEqual(["retry", "retry", "failed"]);
});

test("each start ends in one log line that holds its identity and outcome and never its payload", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", destination: { write: (line) => lines.push(line) } });
  const run = async (_: unknown, { attempt }: JobContext) => {
    if (attempt === 1) throw new Error("not yet");
    return { echo: "" };
  };
  await work({ run, keyed: async () => {} }, { log });
  const job = await finished("run", { text: "a-secret-payload" });
  const outcomes = lines.map((line) => JSON.parse(line)).filter(({ outcome }) => outcome);
  const identity = { queue: "default", action: "run", jobId: job.id };
  expect(outcomes).toMatchObject([
    { ...identity, attempt: 1, outcome: "retry", code: "handler_error", err: { message: "not yet" } },
    { ...identity, attempt: 2, outcome: "completed" },
  ]);
  expect(lines.join("")).not.toContain("a-secret-payload");
});
