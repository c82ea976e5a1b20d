import { setTimeout as wait } from "node:timers/promises";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { cleanUpRedis, connect } from "../test/clients.ts";
import { createRedisClock, type RedisClock, type RedisClockOptions } from "./redis-clock.ts";

cleanUpRedis();

/** A clock of the tests' Redis, on a machine whose own is `aheadMs` ahead of it. */
function clockOf(machine: { aheadMs: number }, options: Partial<RedisClockOptions> = {}) {
  const redis = connect();
  const told: string[] = [];
  const clock = createRedisClock({
    askTime: () => redis.time(),
    onSkew: (message) => told.push(message),
    onForbidden: (message) => told.push(message),
    localNow: () => Date.now() + machine.aheadMs,
    ...options,
  });
  return { clock, told, redis };
}

/** Its measure has been taken, however long Redis was: `settled` alone waits for half a second. */
async function untilMeasured({ clock, aheadMs }: { clock: RedisClock; aheadMs: number }): Promise<void> {
  await clock.settled();
  await expect.poll(() => Math.abs((clock.skewMs() ?? Number.NaN) - aheadMs)).toBeLessThan(500);
}

async function timeOf(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}

test.each([60_000, -60_000])("a machine that is %i ms ahead goes by Redis' time, and says so once", async (aheadMs) => {
  const { clock, told, redis } = clockOf({ aheadMs });
  await untilMeasured({ clock, aheadMs });
  expect(Math.abs(clock.now() - (await timeOf(redis)))).toBeLessThan(500);
  clock.measureAnew();
  await clock.settled();
  const side = aheadMs > 0 ? "ahead of" : "behind";
  expect(told).toEqual([expect.stringMatching(`^This machine's clock is (59.|60.)\\d s ${side} Redis': expected 1 s`)]);
});

test("a clock that is right to less than a second is left alone, and asked about once", async () => {
  let asked = 0;
  const counted = connect();
  const askTime = () => {
    asked += 1;
    return counted.time();
  };
  const { clock, told } = clockOf({ aheadMs: -600 }, { askTime });
  await untilMeasured({ clock, aheadMs: -600 });
  for (let index = 0; index < 100; index++) await clock.settled();
  expect(clock.correctionMs()).toBe(0);
  expect(told).toEqual([]);
  expect(asked).toBeLessThanOrEqual(3);
});

test("a clock that is set while the process lives is measured anew by whoever asks next", async () => {
  const machine = { aheadMs: 0 };
  const { clock, told, redis } = clockOf(machine);
  await untilMeasured({ clock, aheadMs: 0 });
  machine.aheadMs = -60_000;
  await clock.settled();
  expect(Math.abs(clock.now() - (await timeOf(redis)))).toBeLessThan(500);
  await expect.poll(() => told).toHaveLength(1);
  machine.aheadMs = 0;
  // Not by a minute off in the other direction either, while the measure is on its way.
  expect(clock.correctionMs()).toBe(0);
  await clock.settled();
  expect(clock.correctionMs()).toBe(0);
  machine.aheadMs = 60_000;
  await clock.settled();
  await expect.poll(() => told).toHaveLength(2);
});

test("half of the round trip is taken off, and a slow one is asked again", async () => {
  const slow = connect();
  let asked = 0;
  // The answer is old by its way back: a machine that is right would be a second ahead, or half a second by half of the round trip.
  const askTime = async () => {
    const answer = await slow.time();
    if (asked++ === 0) await wait(1_000);
    return answer;
  };
  const { clock } = clockOf({ aheadMs: 0 }, { askTime });
  await expect.poll(() => Math.abs(clock.skewMs() ?? Number.NaN), { timeout: 10_000 }).toBeLessThan(450);
  expect(asked).toBeGreaterThan(1);
});

test("a Redis that refuses to say its time is named once, and this machine's clock counts", async () => {
  const redis = connect();
  // As one whose provider took the command away; an ACL's NOPERM comes the same way.
  const { clock, told } = clockOf({ aheadMs: 60_000 }, { askTime: () => redis.call("TIME-taken-away") });
  for (let index = 0; index < 3; index++) {
    clock.measureAnew();
    await clock.settled();
  }
  expect(clock.skewMs()).toBeUndefined();
  expect(Math.abs(clock.now() - Date.now() - 60_000)).toBeLessThan(500);
  expect(told).toEqual([expect.stringContaining("Grant it with ACL SETUSER")]);
});

test("a Redis that does not answer holds nobody up for longer than half a second, and then nobody at all", async () => {
  const { clock, told } = clockOf({ aheadMs: 60_000 }, { askTime: () => new Promise(() => {}) });
  const startedAt = performance.now();
  await clock.settled();
  expect(performance.now() - startedAt).toBeLessThan(1_500);
  const settledAt = performance.now();
  await clock.settled();
  expect(performance.now() - settledAt).toBeLessThan(400);
  expect(clock.correctionMs()).toBe(0);
  expect(told).toEqual([]);
});

test("a clock that is set during a measure is measured again, and not believed to be off by what it was", async () => {
  const redis = connect();
  const machine = { aheadMs: 60_000 };
  let asked = 0;
  const askTime = async () => {
    const answer = await redis.time();
    // The first is slow, so that there is a second one, in which the clock is set right.
    if (asked++ === 0) await wait(150);
    else machine.aheadMs = 0;
    return answer;
  };
  const { clock } = clockOf({ aheadMs: 0 }, { askTime, localNow: () => Date.now() + machine.aheadMs });
  await untilMeasured({ clock, aheadMs: 0 });
  expect(clock.correctionMs()).toBe(0);
  expect(Math.abs(clock.now() - (await timeOf(redis)))).toBeLessThan(500);
});

test("a Redis that is busy has not refused: what may not be asked is told when it is so", async () => {
  const refusals = [
    "BUSY Redis is busy running a script.",
    "NOPERM this user has no permissions to run the 'time' command",
  ];
  const askTime = async () => {
    throw Object.assign(new Error(refusals.shift()), { name: "ReplyError" });
  };
  const { clock, told } = clockOf({ aheadMs: 60_000 }, { askTime });
  await clock.settled();
  expect(told).toEqual([]);
  clock.measureAnew();
  await clock.settled();
  expect(told).toEqual([expect.stringContaining("NOPERM")]);
});

test("a clock that jumps is not believed until it is measured: what is due in a day is not due now", async () => {
  const machine = { aheadMs: 0 };
  let isSilent = false;
  const redis = connect();
  const askTime = () => (isSilent ? new Promise(() => {}) : redis.time());
  const { clock } = clockOf(machine, { askTime, localNow: () => Date.now() + machine.aheadMs });
  await untilMeasured({ clock, aheadMs: 0 });
  isSilent = true;
  for (const aheadMs of [86_400_000, -86_400_000, 0]) {
    machine.aheadMs = aheadMs;
    expect(Math.abs(clock.now() - (await timeOf(redis)))).toBeLessThan(1_000);
  }
});

test("whoever waits has the first answer of a slow Redis, and need not wait for a better one", async () => {
  const redis = connect();
  let asked = 0;
  const askTime = async () => {
    if (asked++ > 0) return new Promise(() => {});
    await wait(150);
    return redis.time();
  };
  const { clock } = clockOf({ aheadMs: 86_400_000 }, { askTime });
  await untilMeasured({ clock, aheadMs: 86_400_000 });
  expect(Math.abs(clock.now() - (await timeOf(redis)))).toBeLessThan(1_000);
});
