import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const apps = join(import.meta.dirname, "../../..");
const sources = globSync(["api/src/**/*.ts", "cli/src/**/*.ts"], { cwd: apps }).filter(
  (file) => !file.endsWith(".test.ts"),
);

/** Each action that a route or a command writes down. */
function writtenActions(): Set<string> {
  const text = sources.map((file) => readFileSync(join(apps, file), "utf8")).join("\n");
  return new Set([...text.matchAll(/(?:audit|action): "([a-z-]+\.[a-z-]+)"/g)].map(([, action = ""]) => action));
}

test("every action of the audit log is a thing in the singular and a verb, and docs/access.md lists them all", () => {
  const actions = [...writtenActions()];
  expect(actions.length).toBeGreaterThan(30);
  for (const action of actions) expect(action).toMatch(/^[a-z-]*[^s]\.[a-z]+(-[a-z]+)*$/);
  const document = readFileSync(join(apps, "../docs/access.md"), "utf8");
  const [, section = ""] = document.split("An action is a thing in the singular");
  const [list = ""] = section.split("\n\n");
  const listed = [...list.matchAll(/`([a-z-]+\.[a-z-]+)`/g)].map(([, action]) => action);
  expect(listed.toSorted()).toEqual(actions.toSorted());
});
