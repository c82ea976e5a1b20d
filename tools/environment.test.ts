import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { concurrencyVariable } from "@millrace/worker-host";
import { expect, test } from "vitest";
import { z } from "zod";
import { checkEnvironment, namesIn, refuseUnknownNames } from "./environment.ts";
import { listWorkers, root } from "./workers.ts";

const example = readFileSync(join(root, ".env.example"), "utf8");
const workers = {
  REDIS_URL: "redis://127.0.0.1",
  DATABASE_URL: "postgres://127.0.0.1/db",
  SMTP_URL: "smtp://127.0.0.1",
};
const sound = { ...workers, FILE_STORE_URL: "file:///files", API_KEYS: "a-key-of-sixteen-signs" };

/** The names in the schemas that these files export. */
async function namesReadIn(pattern: string): Promise<string[]> {
  const files = globSync(pattern, { cwd: root });
  const modules = await Promise.all(files.map((file): Promise<object> => import(pathToFileURL(join(root, file)).href)));
  const schemas = modules
    .flatMap((exported) => Object.values(exported))
    .filter((value) => value instanceof z.ZodObject);
  return schemas.flatMap(({ shape }) => Object.keys(shape));
}

test(".env.example lists exactly the variables that are read", async () => {
  const read = await namesReadIn("{apps,packages}/*/src/**/env.ts");
  expect([...new Set(namesIn(example))].sort()).toEqual([...new Set(read)].sort());
});

test("a start is asked for every variable there is, but for those that no program reads", async () => {
  const asked = new Set<string>();
  const source = new Proxy<Record<string, string>>(sound, {
    get: (target, name: string) => {
      asked.add(name);
      return target[name];
    },
  });
  await checkEnvironment(source);
  const others = await namesReadIn("{apps/cli,packages/dev-services}/src/env.ts");
  expect(namesIn(example).filter((name) => !asked.has(name) && !others.includes(name))).toEqual([]);
});

test("a start names all that is missing or wrong in any program at once, and each thing once", async () => {
  const wrong = {
    ...{ NODE_ENV: "production", SMTP_URL: "http://127.0.0.1", API_KEYS: "millrace-development-key" },
    ...{ FILE_STORE_URL: "s3://bucket", WORKER_LOCK_DURATION_MS: "10", AI_MAX_OUTPUT_TOKENS: "few" },
  };
  const message = await checkEnvironment(wrong).catch(String);
  const names = message
    ?.split("\n")
    .slice(0, -1)
    .map((line) => /(\w+) is not|\((\w+)\)/.exec(line)?.slice(1).join(""));
  expect(names?.sort()).toEqual([
    "AI_MAX_OUTPUT_TOKENS",
    "API_KEYS",
    "DATABASE_URL",
    "FILE_STORE_ACCESS_KEY_ID",
    "FILE_STORE_SECRET_ACCESS_KEY",
    "REDIS_URL",
    "SMTP_URL",
    "WORKER_LOCK_DURATION_MS",
    "WORKER_STALLED_INTERVAL_MS",
  ]);
});

test("every variable of .env.example has a comment above it or above its group", () => {
  for (const paragraph of example.split("\n\n").filter((text) => namesIn(text).length > 0)) {
    expect(paragraph).toMatch(/^# .+\n/);
  }
});

test("every worker's concurrency is read by its own env.ts", async () => {
  const read = await namesReadIn("apps/worker/src/*/env.ts");
  // A folder is named with hyphens: `ai-agent` runs the queue `aiAgent`.
  const variables = listWorkers().map((domain) => concurrencyVariable(domain).replaceAll("-", "_"));
  expect(read).toEqual(expect.arrayContaining(variables));
});

test("a misspelt name in .env is refused, a commented one is not", () => {
  expect(() => refuseUnknownNames("SMTP_URI=smtp://x\n# REDIS_URI=x\nLOG_LEVEL=info", example)).toThrow(
    /SMTP_URI, which nothing reads/,
  );
});
