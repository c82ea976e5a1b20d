import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { cleanUpRedis, connect, ownRedis, reasonOf, untilAborted, untilClosed } from "../test/clients.ts";
import { createDistributedLock, type ExclusiveContext, ownKey } from "./index.ts";

cleanUpRedis();

const prefix = process.env.QUEUE_PREFIX ?? "";
const roles = ["worker", "producer"] as const;
const token = async ({ fencingToken }: ExclusiveContext) => fencingToken;

test.each(roles)("a release that fails hides neither the value nor the error of the function (%s)", async (role) => {
  const server = await ownRedis();
  const redis = connect(role, server.url);
  await once(redis, "ready");
  const lock = createDistributedLock({ redis, prefix });
  const failure = new Error("its own");
  const goOn = Promise.withResolvers<void>();
  const run = (key: string, end: () => Promise<string>) => {
    const held = Promise.withResolvers<void>();
    const fn = async () => {
      held.resolve();
      await goOn.promise;
      return end();
    };
    return { held: held.promise, outcome: lock.runExclusive({ key, timeoutInSeconds: 30, fn }) };
  };
  const succeeds = run("succeeds", async () => "own");
  const fails = run("fails", () => Promise.reject(failure));
  const outcomes = Promise.all([succeeds.outcome, reasonOf(fails.outcome)]);
  await Promise.all([succeeds.held, fails.held]);
  const lost = untilClosed(redis);
  await server.stop();
  await lost;
  const startedAt = performance.now();
  goOn.resolve();
  expect(await outcomes).toEqual(["own", failure]);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
});

test("a lock that a frozen Redis grants late is given back where nobody waits any more, and taken where somebody does", async () => {
  const server = await ownRedis();
  const redis = connect("worker", server.url);
  const other = connect("worker", server.url);
  await Promise.all([redis.ping(), other.ping()]);
  const lock = createDistributedLock({ redis, prefix });
  const fn = vi.fn(token);
  process.kill(server.pid, "SIGSTOP");
  const patient = { key: "patient", timeoutInSeconds: 60, acquireTimeoutInSeconds: 60 };
  const waiting = lock.runExclusive({ ...patient, fn: token });
  waiting.catch(() => {});
  const error = await reasonOf(lock.runExclusive({ key: "late", timeoutInSeconds: 60, fn }));
  expect(String(error)).toContain('lock "late": expected an answer of Redis within 2000 ms, got none. Nothing ran.');
  process.kill(server.pid, "SIGCONT");
  await vi.waitFor(async () => {
    expect(await other.exists(ownKey(prefix, "fence", "late"))).toBe(1);
    expect(await other.exists(ownKey(prefix, "lock", "late"))).toBe(0);
  }, 10_000);
  expect(fn).not.toHaveBeenCalled();
  expect(await waiting).toEqual(expect.any(Number));
});

test("the caller's signal ends the waiting for a Redis that does not answer", async () => {
  const server = await ownRedis();
  const redis = connect("worker", server.url);
  await redis.ping();
  const reason = new Error("no longer wanted");
  const caller = new AbortController();
  process.kill(server.pid, "SIGSTOP");
  const lock = createDistributedLock({ redis, prefix });
  const call = lock.runExclusive({ key: "unwanted", timeoutInSeconds: 60, signal: caller.signal, fn: token });
  caller.abort(reason);
  expect(await reasonOf(call)).toBe(reason);
});

test("a Redis that comes back without its memory has lost the lock, and its tokens grow all the same", async () => {
  const server = await ownRedis();
  const redis = connect("worker", server.url);
  const lock = createDistributedLock({ redis, prefix });
  let before = Number.NaN;
  const call = lock.runExclusive({
    key: "forgotten",
    timeoutInSeconds: 6,
    fn: async ({ signal, fencingToken }) => {
      before = fencingToken;
      process.kill(server.pid, "SIGKILL");
      await server.exited;
      await ownRedis(server.port);
      await untilAborted(signal);
    },
  });
  expect(String(await reasonOf(call))).toContain("another took it, or it was deleted");
  expect(await lock.runExclusive({ key: "forgotten", timeoutInSeconds: 20, fn: token })).toBeGreaterThan(before);
});
