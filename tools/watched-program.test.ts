import { expect, test } from "vitest";
import { watchedProgram } from "./watched-program.ts";
import { listWorkers } from "./workers.ts";

const foldersOf = (name: string) =>
  watchedProgram(name).args.flatMap((arg) => /^--watch-path=(src.*)$/.exec(arg)?.[1] ?? []);

test("a worker starts anew for its own domain, and for one that it imports from", () => {
  expect(foldersOf("email")).toEqual(["src/email"]);
  expect(foldersOf("ai-agent-urgent")).toEqual(["src/ai-agent-urgent", "src/ai-agent"]);
  expect(foldersOf("api")).toEqual(["src"]);
});

test.each(["api", ...listWorkers()])("%s starts anew for the sources of any package", (name) => {
  const { args } = watchedProgram(name);
  expect(args).toContain("--watch-path=../../packages/worker-config/src");
  expect(args.filter((arg) => arg.startsWith("--watch-path=../../packages/")).length).toBeGreaterThan(20);
});
