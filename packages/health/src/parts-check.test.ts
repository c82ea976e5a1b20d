import { expect, test } from "vitest";
import { createPartsCheck } from "./parts-check.ts";

test("a part that rejects, throws or never answers is named, beside those that are there", async () => {
  const check = createPartsCheck(
    {
      there: async () => "whatever",
      rejecting: () => Promise.reject(new Error("gone")),
      throwing: () => {
        throw new Error("gone");
      },
      hanging: () => new Promise(() => {}),
    },
    { withinMs: 20 },
  );
  expect(await check()).toEqual({ there: true, rejecting: false, throwing: false, hanging: false });
});

test("probes do not pile up on a part that takes its time: it is asked once, and its answer serves all", async () => {
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = () => {
    asked += 1;
    return promise;
  };
  const check = createPartsCheck({ slow }, { withinMs: 20 });
  const probes = await Promise.all(Array.from({ length: 50 }, check));
  expect(probes.every(({ slow: isThere }) => isThere === false)).toBe(true);
  expect(await check()).toEqual({ slow: false });
  resolve();
  await promise;
  expect(await check()).toEqual({ slow: true });
  expect(asked).toBe(1);
});

test("an answer is not kept for longer than it is told: a part that comes back is there at the next probe", async () => {
  let isAway = true;
  const check = createPartsCheck(
    {
      part: async () => {
        if (isAway) throw new Error("gone");
      },
    },
    { keepMs: 0 },
  );
  expect(await check()).toEqual({ part: false });
  isAway = false;
  expect(await check()).toEqual({ part: true });
});
