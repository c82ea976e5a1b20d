import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StartError } from "@millrace/env";
import { expect, onTestFinished, test } from "vitest";
import { builtPrograms, requireBuilt } from "./built-programs.ts";

test("a start before a build names the files that it looked for and the command that makes them", () => {
  const root = mkdtempSync(join(tmpdir(), "built-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const programs = builtPrograms(["email"]);
  const build = (file: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  };
  const missing = (count: number, ...files: string[]) =>
    [
      `Not built: of the 2 files that a start needs, ${count} are missing under ${root}:`,
      ...files.map((file) => `  ${file}`),
      "Run `npm run build`, then `npm start` again. `npm run dev` runs the sources and needs no build.",
    ].join("\n");
  const [api, email] = ["apps/api/dist/main.mjs", "apps/worker/dist/email/worker.mjs"] as const;
  expect(() => requireBuilt(root, programs)).toThrow(new StartError(missing(2, api, email)));
  build(api);
  expect(() => requireBuilt(root, programs)).toThrow(new StartError(missing(1, email)));
  build(email);
  requireBuilt(root, programs);
});
