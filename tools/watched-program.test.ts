import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { foldersOf, watchedProgram } from "./watched-program.ts";
import { listWorkers } from "./workers.ts";

const watchedFolders = (name: string) =>
  watchedProgram(name).args.flatMap((arg) => /^--watch-path=(src.*)$/.exec(arg)?.[1] ?? []);

test("a worker starts anew for its own domain, and for one that it imports from", () => {
  expect(watchedFolders("email")).toEqual(["src/email"]);
  expect(watchedFolders("ai-agent-urgent")).toEqual(["src/ai-agent-urgent", "src/ai-agent"]);
  expect(watchedFolders("api")).toEqual(["src"]);
});

test("a domain counts as imported from however a file reaches it", () => {
  const source = mkdtempSync(join(tmpdir(), "millrace-domains-"));
  onTestFinished(() => rmSync(source, { recursive: true }));
  const files = {
    own: `import { b } from "../named/b.ts"; import "../bare/a.ts"; await import("../loaded/a.ts");`,
    named: `fork(new URL("../started/a.ts", import.meta.url));`,
    other: `import { b } from "../own/a.ts";`,
  };
  for (const [folder, text] of Object.entries(files)) {
    mkdirSync(join(source, folder));
    writeFileSync(join(source, folder, "a.ts"), text);
  }
  expect(foldersOf(source, "own").sort()).toEqual(["bare", "loaded", "named", "own", "started"]);
});

test.each(["api", ...listWorkers()])("%s starts anew for the sources of any package", (name) => {
  const { args } = watchedProgram(name);
  expect(args).toContain("--watch-path=../../packages/worker-config/src");
  expect(args.filter((arg) => arg.startsWith("--watch-path=../../packages/")).length).toBeGreaterThan(20);
});
