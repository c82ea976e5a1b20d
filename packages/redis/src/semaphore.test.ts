import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { cleanUpRedis, connect, ownRedis, reasonOf, untilAborted } from "../test/clients.ts";
import { cleanUpHolders, startHolder } from "../test/holder.ts";
import {
  createSemaphore,
  ownKey,
  SemaphoreFullError,
  type SemaphoreOptions,
  SemaphorePlaceLostError,
} from "./index.ts";

cleanUpRedis();
cleanUpHolders();

const prefix = process.env.QUEUE_PREFIX ?? "";
const create = (options: Partial<SemaphoreOptions> = {}) =>
  createSemaphore({ redis: connect(), prefix, name: randomUUID(), places: 1, leaseMs: 30_000, ...options });
const pass = async () => "passed";

/** Takes a place and keeps it until told. */
async function hold(semaphore: ReturnType<typeof create>) {
  const held = Promise.withResolvers<AbortSignal>();
  const free = Promise.withResolvers<string>();
  const running = semaphore.withPlace(async ({ signal }) => {
    held.resolve(signal);
    return free.promise;
  });
  running.catch(() => {});
  return { signal: await held.promise, free: () => free.resolve("done"), running };
}

test("of 60 contenders all come in, and never more at once than there are places", async () => {
  const name = randomUUID();
  const semaphores = [1, 2, 3].map(() => create({ name, places: 4 }));
  const redis = connect();
  let inside = 0;
  let most = 0;
  const visit = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await redis.ping();
    await redis.ping();
    inside -= 1;
  };
  const visits = Array.from({ length: 60 }, (_, index) =>
    semaphores[index % 3]?.withPlace(visit, { acquireTimeoutMs: 25_000 }),
  );
  await Promise.all(visits);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(4);
  // A visitor waits for its release only briefly.
  await vi.waitFor(async () => expect(await redis.exists(ownKey(prefix, "semaphore", name))).toBe(0), 10_000);
});

test("without a free place it is refused at once, with an error that the host defers by; a free one is given to who waits", async () => {
  const name = randomUUID();
  const semaphore = create({ name, places: 2 });
  const first = await hold(create({ name, places: 2 }));
  const second = await hold(semaphore);
  const fn = vi.fn(pass);
  const error = await reasonOf(semaphore.withPlace(fn, { retryAfterMs: 70 }));
  expect(error).toBeInstanceOf(SemaphoreFullError);
  expect(error).toMatchObject({ failureKind: "contention", code: "semaphore_full", retryAfterMs: 70 });
  expect(await reasonOf(semaphore.withPlace(fn, { acquireTimeoutMs: 100 }))).toBeInstanceOf(SemaphoreFullError);
  expect(fn).not.toHaveBeenCalled();
  const waiting = semaphore.withPlace(fn, { acquireTimeoutMs: 20_000 });
  first.free();
  expect(await waiting).toBe("passed");
  second.free();
  expect(await Promise.all([first.running, second.running])).toEqual(["done", "done"]);
});

test("a holder that is killed frees its place within its lease, and not before, while another stays in", async () => {
  const held = { url: process.env.REDIS_URL ?? "", prefix, name: randomUUID(), leaseMs: 1_500 };
  const killHolder = await startHolder("semaphore", held);
  const semaphore = create({ name: held.name, places: 2 });
  const stays = await hold(semaphore);
  await killHolder();
  const killedAt = performance.now();
  expect(await reasonOf(semaphore.withPlace(pass))).toBeInstanceOf(SemaphoreFullError);
  expect(await semaphore.withPlace(pass, { acquireTimeoutMs: 20_000 })).toBe("passed");
  // A poll may come up to 200 ms after the lease, and its answer a moment later on a busy machine.
  expect(performance.now() - killedAt).toBeLessThan(held.leaseMs + 1_000);
  stays.free();
  expect(await stays.running).toBe("done");
});

test("a holder that lives keeps its place for longer than its lease", async () => {
  const name = randomUUID();
  const { signal, free, running } = await hold(create({ name, leaseMs: 900 }));
  const others = create({ name });
  const startedAt = performance.now();
  await vi.waitFor(
    async () => {
      expect(await reasonOf(others.withPlace(pass))).toBeInstanceOf(SemaphoreFullError);
      expect(performance.now() - startedAt).toBeGreaterThan(2_000);
    },
    { timeout: 10_000 },
  );
  expect(signal.aborted).toBe(false);
  free();
  expect(await running).toBe("done");
});

test("a place that was taken away aborts the signal, and the release touches no other's", async () => {
  const redis = connect();
  const name = randomUUID();
  const key = ownKey(prefix, "semaphore", name);
  const { signal, free, running } = await hold(create({ name, leaseMs: 600 }));
  await redis.del(key);
  await redis.zadd(key, String(Date.now() + 60_000), "another");
  const reason = await untilAborted(signal);
  expect(reason).toBeInstanceOf(SemaphorePlaceLostError);
  expect(reason).toMatchObject({ failureKind: "transient", code: "semaphore_place_lost" });
  free();
  expect(await reasonOf(running)).toBe(reason);
  expect(await redis.zrange(key, "0", "-1")).toEqual(["another"]);
});

test("Redis freezes: the place counts as lost when its lease is over by the local clock", async () => {
  const server = await ownRedis();
  const semaphore = create({ redis: connect("worker", server.url), leaseMs: 900 });
  const call = semaphore.withPlace(async ({ signal }) => {
    process.kill(server.pid, "SIGSTOP");
    await untilAborted(signal);
    return "too late";
  });
  expect(await reasonOf(call)).toBeInstanceOf(SemaphorePlaceLostError);
});

test.each([
  ["no name", { name: "" }, "name: expected a text"],
  ["no place", { places: 0 }, "places: expected a whole number of at least 1, got 0"],
  ["half a place", { places: 1.5 }, "got 1.5"],
  ["no lease", { leaseMs: 0 }, "leaseMs: expected a finite number above 0"],
])("%s is refused in a sentence", (_, wrong, sentence) => {
  expect(() => create(wrong)).toThrow(RangeError);
  expect(() => create(wrong)).toThrow(sentence);
});
