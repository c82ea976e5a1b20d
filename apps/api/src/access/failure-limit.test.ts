import { expect, test } from "vitest";
import { createFailureLimit } from "./failure-limit.ts";

test("an address that gave too many wrong keys waits for the rest of its minute, and no other address with it", () => {
  let nowMs = 0;
  const limit = createFailureLimit(2, () => nowMs);
  limit.count("192.0.2.1");
  nowMs = 10_000;
  expect(limit.waitMs("192.0.2.1")).toBe(0);
  limit.count("192.0.2.1");
  expect([limit.waitMs("192.0.2.1"), limit.waitMs("::ffff:192.0.2.1"), limit.waitMs("192.0.2.2")]).toEqual([
    50_000, 50_000, 0,
  ]);
  nowMs = 60_000;
  expect(limit.waitMs("192.0.2.1")).toBe(0);
});

test("a network of IPv6 is one caller, however many addresses it has", () => {
  const limit = createFailureLimit(2);
  limit.count("2001:db8:0:7::1");
  limit.count("2001:db8::7:ffff:1:2:3");
  expect(limit.waitMs("2001:db8:0:7:9:9:9:9")).toBeGreaterThan(0);
  expect(limit.waitMs("2001:db8:0:8::1")).toBe(0);
});

test("many addresses drive the oldest out instead of filling the memory, and 0 means no limit", () => {
  const limit = createFailureLimit(1);
  for (let caller = 0; caller <= 10_000; caller++) limit.count(`caller-${caller}`);
  expect(limit.waitMs("caller-0")).toBe(0);
  expect(limit.waitMs("caller-10000")).toBeGreaterThan(0);
  const none = createFailureLimit(0);
  none.count("192.0.2.1");
  expect(none.waitMs("192.0.2.1")).toBe(0);
});
