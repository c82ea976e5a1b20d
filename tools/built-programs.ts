import { existsSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "@millrace/env";

export interface BuiltProgram {
  readonly name: string;
  /** Where it runs, from the repository's root. */
  readonly folder: string;
  /** What the build made of it, from there. */
  readonly file: string;
}

/** What a build makes of the API and of these workers. */
export function builtPrograms(workers: readonly string[]): BuiltProgram[] {
  return [
    { name: "api", folder: "apps/api", file: "dist/main.mjs" },
    ...workers.map((domain) => ({ name: domain, folder: "apps/worker", file: `dist/${domain}/worker.mjs` })),
  ];
}

/** @throws StartError when the build of any is not there: it says which files, and the command that makes them */
export function requireBuilt(root: string, programs: readonly BuiltProgram[]): void {
  const files = programs.map(({ folder, file }) => `${folder}/${file}`);
  const missing = files.filter((file) => !existsSync(join(root, file)));
  if (missing.length === 0) return;
  throw new StartError(
    [
      `Not built: of the ${files.length} files that a start needs, ${missing.length} are missing under ${root}:`,
      ...missing.map((file) => `  ${file}`),
      "Run `npm run build`, then `npm start` again. `npm run dev` runs the sources and needs no build.",
    ].join("\n"),
  );
}
