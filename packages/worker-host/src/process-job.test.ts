import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { silent } from "../test/use-queue.ts";
import type { Effect, EffectStore } from "./effect-store.ts";
import type { JobContext } from "./job-context.ts";
import { RateLimitedError } from "./job-error.ts";
import type { SettledStart } from "./job-observer.ts";
import { processJob } from "./process-job.ts";
import type { StartedJob } from "./started-job.ts";

const contract = defineQueue("default", {
  run: { data: z.object({}) },
  limited: { data: z.object({}) },
  charge: {
    data: z.object({ shop: z.string() }),
    idempotencyKey: () => "order",
    idempotencyLifetimeMs: 5_000,
    workspaceId: ({ shop }) => ({ kind: "integration", id: shop }),
  },
});
const now = Date.UTC(2030, 0, 1);
const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const hourMs = 60 * 60_000;

/** One start of a job, without an engine: what became of it, what observers heard, which effects happened and are remembered for how long, and the attempts that were traced. */
async function start(action: keyof typeof contract.actions, { data = {}, run = {} }, job: Partial<StartedJob> = {}) {
  const settled: SettledStart[] = [];
  const traced: number[] = [];
  const contexts: JobContext[] = [];
  const effects: { key: string; lifetimeMs: number }[] = [];
  const store: EffectStore = {
    claim: async () => ({ state: "claimed" }),
    finish: async ({ key }: Effect, _, lifetimeMs) => effects.push({ key, lifetimeMs }) > 0,
    giveUp: async () => {},
  };
  const limited = async () => {
    throw new RateLimitedError("slow down");
  };
  const host = {
    contract,
    handlers: {
      run: async (_: object, context: JobContext) => void contexts.push(context),
      limited,
      charge: async () => {},
    },
    ...{ effects: store, workspaces: undefined, log: silent, now: () => now },
    enqueue: async () => ({ status: "created", jobId: "child" }) as const,
    tracing: {
      traceAttempt: async <T>({ attempt }: { attempt: number }, run: (traceparent: string) => Promise<T>) => {
        traced.push(attempt);
        return run(traceparent);
      },
    },
    observers: [{ settled: (one: SettledStart) => settled.push(one) }],
  };
  const first = {
    jobId: "job",
    action,
    createdAt: new Date(now),
    runnableAt: now,
    attemptsMade: 0,
    attemptsAllowed: 9,
  };
  const says = { progress: async () => {}, note: async () => {} };
  const started = { ...first, starts: 1, replays: 0, ...says, ...job, data: { type: action, data, run } };
  const beganAt = performance.now();
  const { outcome } = await processJob(host, started, undefined);
  expect(settled[0]?.durationMs).toBeLessThanOrEqual(performance.now() - beganAt);
  return { outcome, settled, effects, traced, contexts };
}

test.each<[job: Partial<StartedJob>, waitMs: number | null]>([
  [{ runnableAt: now - 40 }, 40],
  [{ runnableAt: now + 40 }, 0],
  [{ runnableAt: now - 40, starts: 2 }, null],
  [{ runnableAt: now - 40, replays: 1 }, null],
])(
  "a job's wait is told once, at its very first start, and is never below nothing: %o has waited %s ms",
  async (job, waitMs) => {
    expect((await start("run", {}, job)).settled).toMatchObject([{ outcome: "completed", waitMs }]);
  },
);

test.each<[attemptsMade: number, outcome: string]>([
  [0, "failed"],
  [1, "deferred"],
])(
  "a job that is a day and an hour old after %d retries of two hours is %s: what it was meant to wait is not its age",
  async (attemptsMade, outcome) => {
    const job = { starts: 30, runnableAt: now - 25 * hourMs, attemptsMade };
    expect((await start("limited", { run: { retryIntervalsMs: [2 * hourMs] } }, job)).outcome).toBe(outcome);
  },
);

test("an effect is remembered for as long as its action says, and is its workspace's own where only what belongs to it is named", async () => {
  const [one] = (await start("charge", { data: { shop: "one" } })).effects;
  const [other] = (await start("charge", { data: { shop: "other" } })).effects;
  expect([one?.lifetimeMs, other?.lifetimeMs]).toEqual([5_000, 5_000]);
  expect(one?.key).not.toBe(other?.key);
});

test("a trace counts attempts as the log and the observers do, from 1 on, and its attempt is what the handler's own jobs belong to", async () => {
  const { settled, traced, contexts } = await start("run", {}, { attemptsMade: 2 });
  expect(contexts).toMatchObject([{ traceparent }]);
  expect([settled.map(({ attempt }) => attempt), traced]).toEqual([[3], [3]]);
});
