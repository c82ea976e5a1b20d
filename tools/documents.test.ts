import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { contracts, type QueueContract } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { root } from "./workers.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root });

test("every snippet of the README stands in the file that it names", () => {
  const snippets = [...read("README.md").matchAll(/```ts\n\/\/ (\S+)\n(.*?)```/gs)];
  expect(snippets.length).toBeGreaterThan(2);
  for (const [, file = "", code = ""] of snippets) expect(read(file)).toContain(code);
});

test.each(documents)("%s links to files that exist", (document) => {
  for (const [, target = ""] of read(document).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
    expect(existsSync(join(root, dirname(document), target)), target).toBe(true);
  }
});

test("the README's table names every action of every queue", () => {
  for (const contract of Object.values<QueueContract>(contracts)) {
    for (const name of [contract.name, ...Object.keys(contract.actions)])
      expect(read("README.md")).toContain(`\`${name}\``);
  }
});

test("AGENTS.md keeps to its measure of 120 lines", () => {
  expect(read("AGENTS.md").split("\n").length).toBeLessThanOrEqual(121);
});
