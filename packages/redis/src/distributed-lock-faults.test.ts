import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { cleanUpRedis, connect, ownRedis, reasonOf, untilAborted } from "../test/clients.ts";
import { cleanUpHolders, startHolder } from "../test/holder.ts";
import { createDistributedLock, type ExclusiveContext, LockContendedError, LockLostError, ownKey } from "./index.ts";

cleanUpRedis();
cleanUpHolders();

const prefix = process.env.QUEUE_PREFIX ?? "";
const roles = ["worker", "producer"] as const;
const token = async ({ fencingToken }: ExclusiveContext) => fencingToken;

test("a holder that is killed frees the lock within its lease, and not before", async () => {
  const held = { url: process.env.REDIS_URL ?? "", prefix, name: randomUUID(), leaseMs: 1_500 };
  const killHolder = await startHolder("lock", held);
  const lock = createDistributedLock({ redis: connect(), prefix });
  await killHolder();
  const killedAt = performance.now();
  const run = (acquireTimeoutInSeconds: number) =>
    lock.runExclusive({ key: held.name, timeoutInSeconds: 30, acquireTimeoutInSeconds, fn: token });
  expect(await reasonOf(run(0))).toBeInstanceOf(LockContendedError);
  await run(20);
  // A poll may come up to 200 ms after the lease, and its answer a moment later on a busy machine.
  expect(performance.now() - killedAt).toBeLessThan(held.leaseMs + 1_000);
});

test.each(roles)(
  "Redis freezes (%s): the signal aborts by the local clock, and what is returned then is not taken",
  async (role) => {
    const server = await ownRedis();
    const redis = connect(role, server.url);
    await once(redis, "ready");
    const lock = createDistributedLock({ redis, prefix });
    let abortedAfterMs = Number.NaN;
    const call = lock.runExclusive({
      key: "frozen",
      timeoutInSeconds: 0.9,
      fn: async ({ signal }) => {
        process.kill(server.pid, "SIGSTOP");
        const frozenAt = performance.now();
        await untilAborted(signal);
        abortedAfterMs = performance.now() - frozenAt;
        return "too late";
      },
    });
    const error = await reasonOf(call);
    expect(error).toBeInstanceOf(LockLostError);
    expect(String(error)).toContain("no extension of its 900 ms was confirmed");
    expect(abortedAfterMs).toBeLessThan(1_400);
    process.kill(server.pid, "SIGCONT");
    // The release was sent before the thaw: nobody has to wait for a lease.
    expect(
      await lock.runExclusive({ key: "frozen", timeoutInSeconds: 60, acquireTimeoutInSeconds: 5, fn: token }),
    ).toEqual(expect.any(Number));
  },
);

test("a connection that breaks for longer than an extension waits, and is back within the lease, loses nothing", async () => {
  const redis = connect();
  const other = connect();
  const lockKey = ownKey(prefix, "lock", "broken");
  const fn = async () => {
    const heldAt = performance.now();
    redis.disconnect();
    await vi.waitFor(() => expect(performance.now() - heldAt).toBeGreaterThan(1_050), 10_000);
    await redis.connect();
    const leftMs = await other.pttl(lockKey);
    await vi.waitFor(async () => expect(await other.pttl(lockKey)).toBeGreaterThan(leftMs), 10_000);
    return "kept";
  };
  const lock = createDistributedLock({ redis, prefix });
  expect(await lock.runExclusive({ key: "broken", timeoutInSeconds: 3, fn })).toBe("kept");
  expect(await other.exists(lockKey)).toBe(0);
});
