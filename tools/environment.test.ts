import { readFileSync } from "node:fs";
import { join } from "node:path";
import { concurrencyVariable } from "@millrace/worker-host";
import { expect, test } from "vitest";
import { collectEnvSchemas, namesIn, refuseUnknownNames } from "./environment.ts";
import { listWorkers, root } from "./workers.ts";

const example = readFileSync(join(root, ".env.example"), "utf8");

test(".env.example lists exactly the variables that are read", async () => {
  const read = (await collectEnvSchemas()).flatMap(({ schema }) => Object.keys(schema.shape));
  expect([...new Set(namesIn(example))].sort()).toEqual([...new Set(read)].sort());
});

test("every variable of .env.example has a comment above it or above its group", () => {
  for (const paragraph of example.split("\n\n").filter((text) => namesIn(text).length > 0)) {
    expect(paragraph).toMatch(/^# .+\n/);
  }
});

test("every worker's concurrency is read by its own env.ts", async () => {
  const read = (await collectEnvSchemas()).flatMap(({ schema }) => Object.keys(schema.shape));
  // A folder is named with hyphens: `ai-agent` runs the queue `aiAgent`.
  const variables = listWorkers().map((domain) => concurrencyVariable(domain).replaceAll("-", "_"));
  expect(read).toEqual(expect.arrayContaining(variables));
});

test("a misspelt name in .env is refused, a commented one is not", () => {
  expect(() => refuseUnknownNames("SMTP_URI=smtp://x\n# REDIS_URI=x\nLOG_LEVEL=info", example)).toThrow(
    /SMTP_URI, which nothing reads/,
  );
});
