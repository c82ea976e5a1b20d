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

/** The names of the variables that a .env file sets or, commented out, offers. */
export function namesIn(file: string): string[] {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  return lines.flatMap((line) => /^(?:# ?)?([A-Z][A-Z0-9_]*)=/.exec(line)?.[1] ?? []);
}

/**
 * Refuses a start whose processes would not come up: a variable with a wrong value, or one in .env that nobody reads.
 *
 * @throws EnvironmentError
 */
export async function checkEnvironment(env: Record<string, string | undefined>): Promise<void> {
  if (existsSync(join(root, ".env"))) {
    const known = new Set(namesIn(".env.example"));
    const unknown = namesIn(".env").filter((name) => !known.has(name));
    if (unknown.length > 0) {
      throw new EnvironmentError(
        `.env sets ${unknown.join(", ")}, which nothing reads. .env.example lists every variable there is.`,
      );
    }
  }
  for (const { schema } of await collectEnvSchemas()) parseEnv(schema, env);
}
