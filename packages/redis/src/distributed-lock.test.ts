import { expect, test, vi } from "vitest";
import { cleanUpRedis, connect, ownRedis, reasonOf, untilAborted } from "../test/clients.ts";
import { createDistributedLock, type ExclusiveContext, LockContendedError, LockLostError, ownKey } from "./index.ts";

cleanUpRedis();

const prefix = process.env.QUEUE_PREFIX ?? "";
const createLock = () => createDistributedLock({ redis: connect(), prefix });
const token = async ({ fencingToken }: ExclusiveContext) => fencingToken;

/** Takes the lock and keeps it until told. */
async function hold(key: string, timeoutInSeconds = 30) {
  const held = Promise.withResolvers<AbortSignal>();
  const free = Promise.withResolvers<string>();
  const fn = async ({ signal }: ExclusiveContext) => {
    held.resolve(signal);
    return free.promise;
  };
  const running = createLock().runExclusive({ key, timeoutInSeconds, fn });
  running.catch(() => {});
  return { signal: await held.promise, free: () => free.resolve("done"), running };
}

test("200 contenders count up with a read and a write apart, and no count is lost", async () => {
  // A Redis of its own: so many on the shared one would slow the other files' tests down.
  const { url } = await ownRedis();
  const redis = connect("worker", url);
  const locks = [1, 2, 3].map(() => createDistributedLock({ redis: connect("worker", url), prefix }));
  const counter = ownKey(prefix, "lock", "counter of the test");
  const countUp = async () => {
    const count = Number(await redis.get(counter));
    await redis.set(counter, count + 1);
  };
  const runs = Array.from({ length: 200 }, (_, index) =>
    locks[index % 3]?.runExclusive({ key: "count", timeoutInSeconds: 20, acquireTimeoutInSeconds: 25, fn: countUp }),
  );
  await Promise.all(runs);
  expect(await redis.get(counter)).toBe("200");
});

test("a lock that another holds is refused at once, and the error says to the host what to do with the job", async () => {
  const { free, running } = await hold("refused");
  const fn = vi.fn(async () => {});
  const error = await reasonOf(
    createLock().runExclusive({ key: "refused", timeoutInSeconds: 1, retryAfterMs: 70, fn }),
  );
  expect(error).toBeInstanceOf(LockContendedError);
  expect(error).toMatchObject({ failureKind: "contention", code: "lock_contended", retryAfterMs: 70 });
  expect(fn).not.toHaveBeenCalled();
  free();
  expect(await running).toBe("done");
});

test("who waits gets the lock soon after its release, and gives up when its time is over", async () => {
  const { free, running } = await hold("waited for");
  const wait = (acquireTimeoutInSeconds: number) =>
    createLock().runExclusive({ key: "waited for", timeoutInSeconds: 30, acquireTimeoutInSeconds, fn: token });
  expect(await reasonOf(wait(0.3))).toBeInstanceOf(LockContendedError);
  const waiting = wait(20);
  free();
  await running;
  const freedAt = performance.now();
  await waiting;
  expect(performance.now() - freedAt).toBeLessThan(2_000);
});

test("a holder that lives keeps the lock for longer than its lease", async () => {
  const { signal, free, running } = await hold("extended", 0.9);
  const startedAt = performance.now();
  const others = createLock();
  await vi.waitFor(
    async () => {
      const call = others.runExclusive({ key: "extended", timeoutInSeconds: 1, fn: token });
      expect(await reasonOf(call)).toBeInstanceOf(LockContendedError);
      expect(performance.now() - startedAt).toBeGreaterThan(2_000);
    },
    { timeout: 10_000 },
  );
  expect(signal.aborted).toBe(false);
  free();
  expect(await running).toBe("done");
});

test("a stolen lock aborts the signal, takes no value from a function that ignores it, and stays the thief's", async () => {
  const redis = connect();
  const { signal, free, running } = await hold("stolen", 0.6);
  const lockKey = ownKey(prefix, "lock", "stolen");
  await redis.del(lockKey);
  await redis.set(lockKey, "thief");
  const reason = await untilAborted(signal);
  expect(reason).toBeInstanceOf(LockLostError);
  expect(reason).toMatchObject({ failureKind: "transient", code: "exclusive_lock_lost" });
  free();
  expect(await reasonOf(running)).toBe(reason);
  expect(await redis.get(lockKey)).toBe("thief");
});

test("a release after the lock went to another leaves it to that one", async () => {
  const redis = connect();
  const lockKey = ownKey(prefix, "lock", "passed on");
  const { free, running } = await hold("passed on");
  await redis.set(lockKey, "next owner");
  free();
  await running;
  expect(await redis.get(lockKey)).toBe("next owner");
});

test("a function that keeps the event loop busy past its lease has lost the lock", async () => {
  const busy = async () => {
    const endsAt = performance.now() + 400;
    while (performance.now() < endsAt);
    return "value";
  };
  const call = createLock().runExclusive({ key: "busy", timeoutInSeconds: 0.3, fn: busy });
  expect(await reasonOf(call)).toBeInstanceOf(LockLostError);
});

test("what the function throws passes unchanged, and the lock is free afterwards", async () => {
  const thrown = Object.freeze({ no: "error at all" });
  const lock = createLock();
  const fail = () => Promise.reject(thrown);
  expect(await reasonOf(lock.runExclusive({ key: "throws", timeoutInSeconds: 30, fn: fail }))).toBe(thrown);
  await lock.runExclusive({ key: "throws", timeoutInSeconds: 30, fn: token });
});

test("fencing tokens grow from holder to holder, per key, also while Redis's clock is behind the last one", async () => {
  const redis = connect();
  const lock = createLock();
  const acquire = () => lock.runExclusive({ key: "fenced", timeoutInSeconds: 30, fn: token });
  const first = await acquire();
  const second = await acquire();
  expect(second).toBeGreaterThan(first);
  const fenceKey = ownKey(prefix, "fence", "fenced");
  const ahead = second + 3_600_000_000;
  await redis.set(fenceKey, ahead);
  expect([await acquire(), await acquire()]).toEqual([ahead + 1, ahead + 2]);
  expect(await redis.ttl(fenceKey)).toBeGreaterThan(86_000);
});

test("the caller's signal ends the waiting, and reaches a function that runs", async () => {
  const reason = new Error("no longer wanted");
  const waiting = new AbortController();
  const running = new AbortController();
  const held = Promise.withResolvers<void>();
  const holding = createLock().runExclusive({
    key: "aborted",
    timeoutInSeconds: 30,
    signal: running.signal,
    fn: ({ signal }) => {
      held.resolve();
      return untilAborted(signal);
    },
  });
  await held.promise;
  const call = { key: "aborted", timeoutInSeconds: 30, acquireTimeoutInSeconds: 60, signal: waiting.signal, fn: token };
  const waiter = reasonOf(createLock().runExclusive(call));
  waiting.abort(reason);
  expect(await waiter).toBe(reason);
  expect(await reasonOf(createLock().runExclusive(call))).toBe(reason);
  running.abort(reason);
  expect(await holding).toBe(reason);
});

test("no timer outlives a run, a refusal or a wait", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const lock = createLock();
  const run = (acquireTimeoutInSeconds?: number) =>
    lock.runExclusive({ key: "timers", timeoutInSeconds: 30, acquireTimeoutInSeconds, fn: token });
  await run();
  const before = timers();
  await run();
  const { free, running } = await hold("timers");
  await reasonOf(run());
  await reasonOf(run(0.2));
  free();
  await running;
  expect(timers()).toBeLessThanOrEqual(before);
});

test.each([
  ["an empty key", { key: "" }, "key: expected a text"],
  ["no lease", { timeoutInSeconds: 0 }, "timeoutInSeconds: expected a finite number above 0"],
  ["a lease that is no number", { timeoutInSeconds: Number.NaN }, "got NaN"],
  ["a lease longer than a timer", { timeoutInSeconds: 1e9 }, "at most 2147483"],
  [
    "a negative wait",
    { acquireTimeoutInSeconds: -1 },
    "acquireTimeoutInSeconds: expected a finite number of at least 0",
  ],
  ["an endless wait", { acquireTimeoutInSeconds: Number.POSITIVE_INFINITY }, "got Infinity"],
])("%s is refused in a sentence", async (_, wrong, sentence) => {
  const error = await reasonOf(createLock().runExclusive({ key: "sound", timeoutInSeconds: 1, fn: token, ...wrong }));
  expect(error).toBeInstanceOf(RangeError);
  expect(String(error)).toContain(sentence);
});
