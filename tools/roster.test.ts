import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listWorkers, root } from "./workers.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const scriptsOf = (file: string): Record<string, string> => JSON.parse(read(file)).scripts;

// The folders decide which workers there are. What must name each of them by hand is held to it here.
test.each(listWorkers())("worker %s has its scripts, its service and its line in the README", (domain) => {
  expect(scriptsOf("package.json")).toHaveProperty([`worker:${domain}`]);
  expect(scriptsOf("apps/worker/package.json")).toHaveProperty([`worker:${domain}`]);
  expect(scriptsOf("apps/worker/package.json")).toHaveProperty([`start:${domain}`]);
  expect(read("docker-compose.yml")).toContain(`dist/${domain}/worker.mjs`);
  expect(read("README.md")).toContain(`pnpm worker:${domain}`);
});

test("no script is left of a worker that is gone", () => {
  const named = Object.keys(scriptsOf("apps/worker/package.json")).flatMap(
    (name) => /^worker:(.+)$/.exec(name)?.[1] ?? [],
  );
  expect(named.sort()).toEqual(listWorkers());
});
