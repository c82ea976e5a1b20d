import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { cleanUpRedis, connect } from "../test/clients.ts";
import { createRateLimit, ownKey, type RateLimitOptions } from "./index.ts";

cleanUpRedis();

const prefix = process.env.QUEUE_PREFIX ?? "";
const create = (options: Partial<RateLimitOptions> = {}) =>
  createRateLimit({ redis: connect(), prefix, name: randomUUID(), max: 2, durationMs: 60_000, ...options });

test("over all processes so many go at once, and the others are told different times, an even step apart", async () => {
  const name = randomUUID();
  const processes = [create({ name }), create({ name })];
  const waits: number[] = [];
  for (let n = 0; n < 6; n++) waits.push((await processes[n % 2]?.takeTurn(`job-${n}`)) ?? -1);
  expect(waits.slice(0, 2)).toEqual([0, 0]);
  for (const [index, wait] of waits.slice(2).entries()) {
    expect(wait).toBeLessThanOrEqual(30_000 * (index + 1));
    expect(wait).toBeGreaterThan(30_000 * (index + 1) - 5_000);
  }
});

test("who waits keeps the turn: asked again it waits for the same one, and takes nobody else's", async () => {
  const limit = create({ max: 1 });
  await limit.takeTurn("first");
  const wait = await limit.takeTurn("second");
  expect(await limit.takeTurn("second")).toBeLessThanOrEqual(wait);
  expect(await limit.takeTurn("third")).toBeGreaterThan(wait);
});

test("when the time has come the turn is there, once, and at the end nothing is left in Redis", async () => {
  const name = randomUUID();
  const redis = connect();
  const limit = create({ name, max: 1, durationMs: 200 });
  expect(await limit.takeTurn("first")).toBe(0);
  expect(await limit.takeTurn("second")).toBeGreaterThan(0);
  await vi.waitFor(async () => expect(await limit.takeTurn("second")).toBe(0), { timeout: 5_000, interval: 20 });
  expect(await redis.zcard(ownKey(prefix, "rate", name, "turns"))).toBe(0);
  await vi.waitFor(async () => expect(await redis.exists(ownKey(prefix, "rate", name, "next"))).toBe(0), 5_000);
});

test("a pause is not saved up: after it no more go at once than before", async () => {
  const name = randomUUID();
  const limit = create({ name, max: 2, durationMs: 1_000 });
  await limit.takeTurn("before");
  await vi.waitFor(async () => expect(await connect().exists(ownKey(prefix, "rate", name, "next"))).toBe(0), 5_000);
  expect(await limit.takeTurn("1")).toBe(0);
  expect(await limit.takeTurn("2")).toBe(0);
  expect(await limit.takeTurn("3")).toBeGreaterThan(0);
});

test("a turn may weigh more, and more than is there makes the others wait instead of standing still", async () => {
  const name = randomUUID();
  const processes = [create({ name, max: 60 }), create({ name, max: 60 })] as const;
  expect(await processes[0].takeTurn("small", 10)).toBe(0);
  expect(await processes[1].takeTurn("small too", 50)).toBe(0);
  const wait = await processes[0].takeTurn("large", 30);
  expect(wait).toBeLessThanOrEqual(30_000);
  expect(wait).toBeGreaterThan(25_000);
  const alone = create({ max: 60 });
  expect(await alone.takeTurn("larger than all", 120)).toBe(0);
  expect(await alone.takeTurn("next", 1)).toBeGreaterThan(55_000);
});

test("what a turn took in the end is what counts: too much delays the next one, too little brings it nearer", async () => {
  const limit = create({ max: 60 });
  await limit.takeTurn("first", 10);
  await limit.correct(80);
  const wait = await limit.takeTurn("second", 1);
  expect(wait).toBeLessThanOrEqual(31_000);
  expect(wait).toBeGreaterThan(26_000);
  await limit.correct(-200);
  expect(await limit.takeTurn("third", 60)).toBe(0);
});

test("a turn that is given back is there when its holder comes again, and for nobody else", async () => {
  const limit = create({ max: 1 });
  expect(await limit.takeTurn("first")).toBe(0);
  await limit.keepTurn("first");
  expect(await limit.takeTurn("second")).toBeGreaterThan(0);
  expect(await limit.takeTurn("first")).toBe(0);
  expect(await limit.takeTurn("first")).toBeGreaterThan(60_000);
});

test.each([0, 1.5, Number.NaN])("a weight of %d is refused in a sentence", async (weight) => {
  await expect(create().takeTurn("holder", weight)).rejects.toThrow("weight: expected a whole number of at least 1");
});

test.each([
  ["no name", { name: "" }, "name: expected a text"],
  ["nobody", { max: 0 }, "max: expected a whole number of at least 1, got 0"],
  ["no time", { durationMs: 0.5 }, "durationMs: expected a whole number of at least 1, got 0.5"],
])("%s is refused in a sentence", (_, wrong, sentence) => {
  expect(() => create(wrong)).toThrow(sentence);
});
