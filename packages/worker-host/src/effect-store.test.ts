import { createHash } from "node:crypto";
import { ownKey } from "@millrace/redis";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import { createMemoryEffectStore } from "./memory/memory-effect-store.ts";
import { createRedisEffectStore } from "./redis-effect-store.ts";

const { prefix, raw } = useQueue(defineQueue("default", { run: { data: z.object({}) } }));

const effect = (order: string, owner: string, token: string, start = 1) => ({ key: order, owner, token, start });

const stores = [
  ["Redis", () => createRedisEffectStore(raw.getBackend().client, prefix)],
  ["memory", () => createMemoryEffectStore(Date.now)],
] as const;

test.each(stores)(
  "a start whose claim another start took over can neither finish nor give up the effect, in %s",
  async (_, createStore) => {
    const effects = createStore();
    const first = effect("fenced", "job", "first");
    const second = effect("fenced", "job", "second");
    expect(await effects.claim(first, 10_000)).toEqual({ state: "claimed" });
    // The same job, started again after its worker died: its own claim does not stand in its way.
    expect(await effects.claim(second, 10_000)).toEqual({ state: "claimed" });
    expect(await effects.finish(first, '"late"', 10_000)).toBe(false);
    await effects.giveUp(first);
    expect(await effects.claim(effect("fenced", "other", "x"), 10_000)).toMatchObject({ state: "busy" });
    expect(await effects.finish(second, '"done"', 10_000)).toBe(true);
    expect(await effects.claim(effect("fenced", "other", "x"), 10_000)).toEqual({
      state: "done",
      byOwner: false,
      result: '"done"',
    });
    expect(await effects.claim(effect("fenced", "job", "y"), 10_000)).toMatchObject({ state: "done", byOwner: true });
  },
);

test("what is sent behind a finish comes to Redis behind it, though nobody has waited for the answer", async () => {
  const client = await raw.getBackend().client;
  const effects = createRedisEffectStore(raw.getBackend().client, prefix);
  const done = effect("followed", "job", "first");
  await effects.claim(done, 10_000);
  const key = ownKey(prefix, "idempotency", createHash("sha256").update("followed").digest("base64url"));
  const finished = effects.finish(done, '"done"', 10_000);
  expect(await client.runCommand("get", [key])).toBe('d job "done"');
  expect(await finished).toBe(true);
  // The connection was lost before the answer came, and the client sends it once more.
  expect(await effects.finish(done, '"done"', 10_000)).toBe(true);
});

test.each(stores)(
  "a claim whose lease is over is anybody's, and a finished effect is forgotten after its lifetime, in %s",
  async (_, createStore) => {
    const effects = createStore();
    const slow = effect("slow", "job", "1");
    await effects.claim(slow, 5);
    const claimedAt = performance.now();
    await effects.claim(effect("leased", "dead", "1"), 5);
    await expect.poll(() => effects.claim(effect("leased", "alive", "2"), 10_000)).toEqual({ state: "claimed" });
    await effects.finish(effect("leased", "alive", "2"), "null", 5);
    await expect.poll(() => effects.claim(effect("leased", "third", "3"), 10_000)).toEqual({ state: "claimed" });
    // Nobody took it meanwhile: what this one did stands.
    await expect.poll(() => performance.now() - claimedAt).toBeGreaterThan(20);
    expect(await effects.finish(slow, "null", 10_000)).toBe(true);
  },
);

test.each(stores)(
  "a claim of an earlier start of the same job that comes late takes over no later one, in %s",
  async (_, createStore) => {
    const effects = createStore();
    const [early, late] = [effect("ordered", "job", "early", 2), effect("ordered", "job", "late", 10)];
    expect(await effects.claim(late, 10_000)).toEqual({ state: "claimed" });
    expect(await effects.claim(early, 10_000)).toEqual({ state: "busy" });
    // Its answer was lost, and it is sent again.
    expect(await effects.claim(late, 10_000)).toEqual({ state: "claimed" });
    expect(await effects.finish(early, '"early"', 10_000)).toBe(false);
    expect(await effects.finish(late, '"late"', 10_000)).toBe(true);
    expect(await effects.claim(early, 10_000)).toEqual({ state: "done", byOwner: true, result: '"late"' });
  },
);

test("a claim that an older version recorded without a start stands in the way of no later start of its job", async () => {
  const client = await raw.getBackend().client;
  const effects = createRedisEffectStore(raw.getBackend().client, prefix);
  await effects.claim(effect("old", "job", "any"), 10_000);
  const digest = createHash("sha256").update("old").digest("base64url");
  const key = ownKey(prefix, "idempotency", digest);
  expect(await client.get(key)).toBe("r job 1 any");
  await client.set(key, "r job 99999999-aaaa");
  expect(await effects.claim(effect("old", "other", "x", 5), 10_000)).toEqual({ state: "busy" });
  expect(await effects.claim(effect("old", "job", "x", 5), 10_000)).toEqual({ state: "claimed" });
});

test.each(stores)("a claim that was given up is anybody's at once, in %s", async (_, createStore) => {
  const effects = createStore();
  await effects.claim(effect("given up", "job", "1"), 10_000);
  await effects.giveUp(effect("given up", "job", "1"));
  expect(await effects.claim(effect("given up", "other", "2"), 10_000)).toEqual({ state: "claimed" });
});
