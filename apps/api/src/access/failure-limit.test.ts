import { expect, test } from "vitest";
import { createFailureLimit } from "./failure-limit.ts";

const findNothing = async () => undefined;
const found = { name: "Ada" };
let keys = 0;
const nextKey = () => `key-${keys++}`;

test("an address that gave too many wrong keys waits for the rest of its minute, and no other address with it", async () => {
  let nowMs = 0;
  const limit = createFailureLimit(2, () => nowMs);
  const fail = (address: string) => limit.attempt(address, nextKey(), findNothing);
  const succeed = (address: string) => limit.attempt(address, nextKey(), async () => found);
  await fail("192.0.2.1");
  nowMs = 10_000;
  expect(await succeed("192.0.2.1")).toBe(found);
  await fail("192.0.2.1");
  const addresses = ["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"];
  expect(await Promise.all(addresses.map(succeed))).toEqual([50_000, 50_000, found]);
  nowMs = 60_000;
  expect(await succeed("192.0.2.1")).toBe(found);
});

test.each([
  ["different keys", nextKey],
  ["one key", () => "always"],
])("of many wrong keys at once no more are looked at than one after the other: %s", async (_, makeKey) => {
  const limit = createFailureLimit(20);
  let lookUps = 0;
  const lookUp = async () => {
    lookUps++;
    await new Promise(setImmediate);
    return undefined;
  };
  const answers = await Promise.all(Array.from({ length: 300 }, () => limit.attempt("192.0.2.1", makeKey(), lookUp)));
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(20);
  expect(lookUps).toBeLessThanOrEqual(20);
});

test("many right keys at once are all let in, also where a look-up fails", async () => {
  const limit = createFailureLimit(2);
  const lookUps = Array.from({ length: 50 }, (_, index) => async () => {
    await new Promise(setImmediate);
    if (index === 0) throw new Error("no Redis");
    return found;
  });
  const answers = await Promise.allSettled(lookUps.map((lookUp) => limit.attempt("192.0.2.1", nextKey(), lookUp)));
  expect(answers[0]?.status).toBe("rejected");
  expect(answers.slice(1)).toEqual(Array.from({ length: 49 }, () => ({ status: "fulfilled", value: found })));
});

test("a network of IPv6 is one caller, however many addresses it has", async () => {
  const limit = createFailureLimit(2);
  const fail = (address: string) => limit.attempt(address, nextKey(), findNothing);
  await fail("2001:db8:0:7::1");
  await fail("2001:db8::7:ffff:1:2:3");
  expect(await fail("2001:db8:0:7:9:9:9:9")).toBeGreaterThan(0);
  expect(await fail("2001:db8:0:8::1")).toBeUndefined();
});

test("many addresses drive the oldest out instead of filling the memory, and 0 means no limit", async () => {
  const limit = createFailureLimit(1);
  const fail = (address: string) => limit.attempt(address, nextKey(), findNothing);
  for (let caller = 0; caller <= 10_000; caller++) await fail(`caller-${caller}`);
  expect(await fail("caller-10000")).toBeGreaterThan(0);
  expect(await fail("caller-0")).toBeUndefined();
  const none = createFailureLimit(0);
  for (let tries = 0; tries < 3; tries++) {
    expect(await none.attempt("192.0.2.1", nextKey(), findNothing)).toBeUndefined();
  }
});
