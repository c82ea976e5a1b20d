import { expect, test } from "vitest";
import { checkExposition } from "./check-exposition.ts";

test.each([
  ["a gauge that is named as a counter", "# HELP jobs_total Jobs.\n# TYPE jobs_total gauge\njobs_total 1\n", /_total/],
  ["a unit that is no base unit", "# HELP wait_ms Wait.\n# TYPE wait_ms gauge\nwait_ms 1\n", /base unit/],
  ["a metric without help", "# HELP jobs \n# TYPE jobs gauge\njobs 1\n", /help/],
  ["a series that is there twice", "# HELP jobs Jobs.\n# TYPE jobs gauge\njobs 1\njobs 2\n", /twice/],
  ["a sample without a type", "jobs 1\n", /no type/],
  ["what is no sample", "# HELP jobs Jobs.\n# TYPE jobs gauge\njobs\n", /no sample/],
])("the check finds %s", (_, text, problem) => {
  expect(checkExposition(text).join("\n")).toMatch(problem);
});
