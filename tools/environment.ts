import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Environment, EnvironmentError, type ReadEnv, readTogether } from "@millrace/env";
import { listWorkers, root } from "./workers.ts";

/** The names of the variables that the text of a .env file sets or, commented out, offers. */
export function namesIn(text: string): string[] {
  return text.split("\n").flatMap((line) => /^(?:# ?)?([A-Z][A-Z0-9_]*)=/.exec(line)?.[1] ?? []);
}

/**
 * Refuses a .env that sets what nothing reads: a misspelt name would silently mean the default.
 *
 * @throws EnvironmentError
 */
export function refuseUnknownNames(envText: string, exampleText: string): void {
  const known = new Set(namesIn(exampleText));
  const unknown = namesIn(envText.replace(/^#.*$/gm, "")).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new EnvironmentError([`.env sets ${unknown.join(", ")}, which nothing reads.`]);
}

/**
 * Refuses a start whose programs would not come up: asks each of them for what it reads, which it begins with itself.
 *
 * @param env what the programs will be given
 * @param options.programs `api` and workers by their domains. Defaults to all of them
 * @param options.more what else must be readable. Defaults to nothing
 * @throws EnvironmentError with all that is missing or wrong, and the names in .env that nothing reads
 */
export async function checkEnvironment(
  env: Environment,
  {
    programs = ["api", ...listWorkers()],
    more = {},
  }: { readonly programs?: readonly string[]; readonly more?: Readonly<Record<string, ReadEnv<unknown>>> } = {},
): Promise<void> {
  const envFile = join(root, ".env");
  const names = () => {
    if (existsSync(envFile))
      refuseUnknownNames(readFileSync(envFile, "utf8"), readFileSync(join(root, ".env.example"), "utf8"));
  };
  const readers = await Promise.all(programs.map(async (name) => [name, await importReader(name)] as const));
  readTogether({ names, ...more, ...Object.fromEntries(readers) }, env);
}

async function importReader(program: string): Promise<ReadEnv<unknown>> {
  const folder = program === "api" ? "apps/api/src" : join("apps/worker/src", program);
  const { href } = pathToFileURL(join(root, folder, "env.ts"));
  // What a program starts with: without it, it would not compile.
  const { readSettings } = (await import(href)) as { readSettings: ReadEnv<unknown> };
  return readSettings;
}
