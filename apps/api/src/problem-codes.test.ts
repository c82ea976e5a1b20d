import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(join(import.meta.dirname, path), "utf8");
const sources = globSync("**/*.ts", { cwd: import.meta.dirname }).filter((file) => !file.endsWith(".test.ts"));

/** Each problem that the sources write down, as `409 not_failed`. */
function writtenProblems(): string[] {
  const text = sources.map(read).join("\n");
  const whole = [...text.matchAll(/status: (\d{3}),[^{}]*?code: "(\w+)"/g)].map(([, status, code]) => [status, code]);
  // The tables from an error's code to its status.
  const byCode = [...text.matchAll(/(\w+): \{ status: (\d{3}), title: /g)].map(([, code, status]) => [status, code]);
  // The tables from an outcome, which is the code, to its sentence.
  const outcomes = [...text.matchAll(/const \w+Details: Record<.*?> = \{(.*?)\n\}/gs)].flatMap(([, table = ""]) =>
    [...table.matchAll(/^ {2}(\w+):/gm)].map(([, outcome]) => ["409", outcome]),
  );
  return [...whole, ...byCode, ...outcomes].map((problem) => problem.join(" "));
}

// Their status or code is no literal beside the other one; and what is no refusal.
const further = ["400 bad_request", "409 not_delayed", "503 queue_unavailable"];
const success = "409 replayed";

test("docs/api.md lists every problem code under its status, and none that there is not", () => {
  const table = read("../../../docs/api.md").matchAll(/^\| (\d{3}) \| (`\w+`(?:, `\w+`)*) \|/gm);
  const listed = [...table].flatMap(([, status, codes = ""]) =>
    codes.split(", ").map((code) => `${status} ${code.slice(1, -1)}`),
  );
  const expected = new Set([...writtenProblems(), ...further]);
  expected.delete(success);
  expect(expected.size).toBeGreaterThan(40);
  expect(listed.toSorted()).toEqual([...expected].toSorted());
});
