import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { silent } from "../test/use-queue.ts";
import { abortedBy } from "./abort-reason.ts";
import type { EffectStore } from "./effect-store.ts";
import { once } from "./once.ts";
import { processJob } from "./process-job.ts";

const contract = defineQueue("default", {
  charge: { data: z.object({ order: z.string() }), timeout: 120_000, idempotencyKey: ({ order }) => order },
});

/** A store that is asked once, and says what it was asked. */
function askedStore(finish: () => boolean) {
  const asked: { leaseMs?: number; lifetimeMs?: number; result?: string } = {};
  const store: EffectStore = {
    claim: async (_, leaseMs) => {
      asked.leaseMs = leaseMs;
      return { state: "claimed" };
    },
    finish: async (_, result, lifetimeMs) => {
      Object.assign(asked, { result, lifetimeMs });
      return finish();
    },
    giveUp: async () => {},
  };
  return { asked, store };
}

async function run(effects: EffectStore, timeoutMs?: number, order = "o") {
  const job = {
    jobId: "job",
    action: "charge",
    data: { type: "charge", data: { order }, run: timeoutMs === undefined ? {} : { timeoutMs } },
    createdAt: new Date(),
    runnableAt: Date.now(),
    attemptsMade: 0,
    attemptsAllowed: 1,
    starts: 1,
    replays: 0,
    progress: async () => {},
    note: async () => {},
  };
  const enqueue = async () => ({ status: "created", jobId: "child" }) as const;
  const parts = { effects, workspaces: undefined, enqueue, log: silent, now: Date.now };
  const host = { contract, handlers: { charge: async () => {} }, ...parts };
  return processJob(host, job, undefined);
}

test.each([[undefined], [600_000]])(
  "a claim outlives its attempt, so that no twin starts beside it (timeout %s)",
  async (timeoutMs) => {
    const { asked, store } = askedStore(() => true);
    expect((await run(store, timeoutMs)).outcome).toBe("completed");
    expect(asked.leaseMs).toBeGreaterThan(timeoutMs ?? 120_000);
    // JSON, also of what returns nothing: it is read as JSON again.
    expect(asked).toMatchObject({ lifetimeMs: 24 * 60 * 60_000, result: "null" });
  },
);

test("a job whose effect happened and cannot be remembered completes: tried again, it would have the effect again", async () => {
  const { store } = askedStore(() => {
    throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
  });
  expect((await run(store)).outcome).toBe("completed");
});

test("a job whose claim is refused is deferred and has not run, its last attempt unused", async () => {
  const { asked, store } = askedStore(() => true);
  const claim = async () => Promise.reject(new Error("OOM command not allowed"));
  expect(await run({ ...store, claim })).toMatchObject({
    outcome: "deferred",
    failure: { code: "effect_lookup_failed" },
  });
  expect(asked.lifetimeMs).toBeUndefined();
});

test("a job whose key is empty is dead at once: it would be one effect with every other such job", async () => {
  const { asked, store } = askedStore(() => true);
  const outcome = await run(store, undefined, "");
  expect(outcome).toMatchObject({ outcome: "failed", failure: { code: "invalid_idempotency_key" } });
  expect(asked.leaseMs).toBeUndefined();
});

/** A claim that is given up as `giveUp` says. */
function claimedStore(giveUp: () => Promise<void>): EffectStore {
  return { claim: async () => ({ state: "claimed" }), finish: async () => true, giveUp };
}

const effect = { key: "k", owner: "default/job", token: "t", start: 1 };
const terms = { leaseMs: 1_000, lifetimeMs: 1_000, onUnrecorded: () => {}, onRepeated: () => {} };

test("a handler that throws after its attempt was ended gives its claim up, when what it let go of has had five seconds", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const giveUp = vi.fn(async () => {});
  const running = once(claimedStore(giveUp), effect, terms, async (onLateEnd) => {
    onLateEnd("threw");
    throw abortedBy("cancelled");
  });
  await expect(running).rejects.toMatchObject({ abortCause: "cancelled" });
  vi.advanceTimersByTime(4_999);
  expect(giveUp).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(giveUp).toHaveBeenCalledWith(effect);
});

test("a claim that cannot be given up hides no error of the handler's own", async () => {
  const store = claimedStore(async () => Promise.reject(new Error("OOM command not allowed")));
  const running = once(store, effect, terms, async () => Promise.reject(new Error("the service is away")));
  await expect(running).rejects.toThrow("the service is away");
});
