import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

test("what is not said is 20,000 jobs in two minutes, each time with another seed", () => {
  expect(readOptions([])).toEqual({ jobs: 20_000, seconds: 120, seed: expect.any(Number) });
});

test.each([
  ["--jobs", "many"],
  ["--jobs", "100000"],
  ["--seconds", "1"],
  ["--seed", "x"],
])("%s %s is refused with a sentence that names it", (name, value) => {
  expect(() => readOptions([name, value])).toThrow(`${name}: `);
});
