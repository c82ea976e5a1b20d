import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { EnvironmentError, parseEnv } from "@millrace/env";
import { z } from "zod";
import { root } from "./workers.ts";

/** Every schema that an env.ts of the repository exports, with the file it comes from. */
export async function collectEnvSchemas(): Promise<{ file: string; schema: z.ZodObject }[]> {
  const files = globSync("{apps,packages}/*/src/**/env.ts", { cwd: root }).sort();
  const modules = await Promise.all(
    files.map(async (file) => ({ file, exports: (await import(pathToFileURL(join(root, file)).href)) as object })),
  );
  return modules.flatMap(({ file, exports }) =>
    Object.values(exports)
      .filter((value) => value instanceof z.ZodObject)
      .map((schema) => ({ file, schema })),
  );
}

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
  throw new EnvironmentError(
    `.env sets ${unknown.join(", ")}, which nothing reads. .env.example lists every variable there is.`,
  );
}

/**
 * Refuses a start whose processes would not come up.
 *
 * @param env what the processes will be given
 * @throws EnvironmentError
 */
export async function checkEnvironment(env: Record<string, string | undefined>): Promise<void> {
  const envFile = join(root, ".env");
  if (existsSync(envFile))
    refuseUnknownNames(readFileSync(envFile, "utf8"), readFileSync(join(root, ".env.example"), "utf8"));
  for (const { schema } of await collectEnvSchemas()) parseEnv(schema, env);
}
