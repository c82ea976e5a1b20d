import { createLogger } from "@millrace/logger";
import { expect, test } from "vitest";
import { z } from "zod";
import { toStoredResult } from "./stored-result.ts";

function store(schema: z.ZodType | undefined, returned: unknown) {
  const lines: object[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const log = createLogger({ level: "warn", format: "json", destination: { write } });
  return { stored: toStoredResult(schema, returned, { log }), lines };
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;

test.each<[what: string, schema: z.ZodType, returned: unknown, fields: string[]]>([
  ["a bigint that any result may be", z.any(), 1n, ["(not JSON)"]],
  ["a bigint deep in free data", z.any(), { rows: [{ id: 1n }] }, ["(not JSON)"]],
  ["a cycle", z.any(), cycle, ["(not JSON)"]],
  ["a function", z.any(), () => {}, ["(not JSON)"]],
  ["what its schema refuses", z.object({ echo: z.string() }), { echo: 54_321 }, ["echo"]],
])("%s is dropped, with a warning that names the field and not the value", (_, schema, returned, fields) => {
  const { stored, lines } = store(schema, returned);
  expect(stored).toBeUndefined();
  expect(lines).toMatchObject([{ code: "result_dropped", fields }]);
  expect(JSON.stringify(lines)).not.toContain("54321");
});

test("a result is stored as its schema gives it, and one that nobody declared is not", () => {
  const schema = z.object({ echo: z.string(), times: z.number().default(1) });
  expect(store(schema, { echo: "a", more: true })).toEqual({ stored: { echo: "a", times: 1 }, lines: [] });
  expect(store(undefined, 1n)).toEqual({ stored: undefined, lines: [] });
});
