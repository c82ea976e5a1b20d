import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { cleanUpRedis, connect } from "../test/clients.ts";
import { createRateLimit, ownKey } from "./index.ts";

cleanUpRedis();

const prefix = process.env.QUEUE_PREFIX ?? "";
const create = (perSecond: number, name: string = randomUUID()) =>
  createRateLimit({ redis: connect(), prefix, name, perSecond });

test("as many as a second holds go at once, and the others get turns one after the other", async () => {
  const name = randomUUID();
  const limits = [create(4, name), create(4, name)];
  const waits = [];
  for (let count = 0; count < 8; count++) waits.push(await limits[count % 2]?.takeTurn(`visitor-${count}`));
  expect(waits.slice(0, 4)).toEqual([0, 0, 0, 0]);
  for (const [index, waitMs = 0] of waits.slice(4).entries()) {
    // A quarter of a second apart, less what the test itself took.
    expect(waitMs).toBeLessThanOrEqual((index + 1) * 250);
    expect(waitMs).toBeGreaterThan(index * 250);
  }
});

test("who comes back keeps the turn, whoever came meanwhile, and takes it once", async () => {
  const limit = create(5);
  for (let count = 0; count < 5; count++) await limit.takeTurn(`early-${count}`);
  const waitMs = await limit.takeTurn("late");
  const behind = await limit.takeTurn("later");
  expect(behind).toBeGreaterThan(waitMs);
  expect(await limit.takeTurn("late")).toBeLessThanOrEqual(waitMs);
  await expect.poll(() => limit.takeTurn("late")).toBe(0);
  expect(await limit.takeTurn("late")).toBeGreaterThan(0);
});

test("nothing is left in Redis of a limit that nobody uses", async () => {
  const name = randomUUID();
  const redis = connect();
  for (let count = 0; count < 3; count++) await create(1, name).takeTurn(`visitor-${count}`);
  for (const kind of ["turns", "latest"]) {
    const lifeMs = await redis.pttl(ownKey(prefix, "rate", name, kind));
    expect(lifeMs).toBeGreaterThan(600_000);
    expect(lifeMs).toBeLessThan(610_000);
  }
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("a rate of %s is refused", (perSecond) => {
  expect(() => create(perSecond)).toThrow("perSecond: expected a number above 0");
});
