import { expect, test } from "vitest";
import { createExpiringMap } from "./expiring-map.ts";

test("an entry is there until its time is over, and one without a time until it is deleted", () => {
  let now = 1_000;
  const map = createExpiringMap<string>(() => now);
  map.set("timed", "a", 10);
  map.set("lasting", "b");
  now += 9;
  expect([map.get("timed"), map.leftMs("timed"), map.leftMs("lasting")]).toEqual(["a", 1, Number.POSITIVE_INFINITY]);
  now += 1;
  expect([map.get("timed"), map.leftMs("timed"), map.get("lasting")]).toEqual([undefined, 0, "b"]);
  map.delete("lasting");
  expect(map.get("lasting")).toBeUndefined();
});

test("what has expired is swept out, so that the map does not grow with what it has forgotten", () => {
  let now = 0;
  const map = createExpiringMap<number>(() => now);
  for (let index = 0; index < 100_000; index++) {
    map.set(String(index), index, 10);
    now += 1;
  }
  expect(map.size()).toBeLessThan(2_000);
});
