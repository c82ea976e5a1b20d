import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { noConnections, runNode } from "../packages/worker-config/test/run-node.ts";
import { root } from "./workers.ts";

/** What an entry is, or what leads from the sources to it. */
type Entry = string | { readonly "millrace-source": string };

/** The source of every entry of every package. Those for tests need a test around them. */
const entries = globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
  const { exports }: { exports: Record<string, Entry> } = JSON.parse(readFileSync(join(root, file), "utf8"));
  return Object.entries(exports).flatMap(([name, entry]) => {
    const source = typeof entry === "string" ? entry : entry["millrace-source"];
    return name === "./testing" ? [] : pathToFileURL(join(root, dirname(file), source)).href;
  });
});

// Libraries ask for what is theirs, as NODE_DEBUG. A stack that goes through our sources is a question of ours.
const noQuestions = `
  const asked = (_, name) => {
    if (!/packages\\/[^/]+\\/src\\//.test(new Error().stack)) return undefined;
    console.error("the environment was asked for " + String(name));
    process.exit(3);
  };
  process.env = new Proxy({}, { get: asked, has: asked, getOwnPropertyDescriptor: asked });`;

const importThem = (sources: readonly string[], program = "") =>
  runNode(
    [
      "--conditions=millrace-source",
      "--input-type=module",
      "-e",
      `${noConnections}${noQuestions}
      const packages = await Promise.all(${JSON.stringify(sources)}.map((entry) => import(entry)));
      console.log(packages.length);
      ${program}`,
    ],
    root,
  );

test("every package is imported without a connection or a question to the environment, and the process ends by itself", async () => {
  expect(entries.length).toBeGreaterThan(20);
  expect(await importThem(entries)).toEqual({ code: 0, stdout: `${entries.length}\n`, stderr: "" });
});

test("the guard of this test notices a question to the environment", async () => {
  const redis = entries.filter((source) => source.includes("/packages/redis/"));
  const asked = { code: 3, stderr: "the environment was asked for REDIS_URL\n" };
  expect(await importThem(redis, "packages[0].readRedisEnv();")).toMatchObject(asked);
});
