import type { z } from "zod";

/** A variable of the environment has a value that the program cannot start with. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
}

/**
 * Reads the variables that `schema` names. An empty string counts as unset, so that `NAME=` in a .env file means the default.
 *
 * @param source defaults to `process.env`
 * @throws EnvironmentError with one sentence per variable: its name, what was expected, and where to set it. Values are never
 *   repeated, because a variable may hold a secret.
 */
export function parseEnv<Schema extends z.ZodObject>(
  schema: Schema,
  source: Record<string, string | undefined> = process.env,
): z.output<Schema> {
  const given = Object.fromEntries(
    Object.keys(schema.shape).flatMap((name) => (source[name] ? [[name, source[name]]] : [])),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? "environment");
    const problem = name in given ? `is not valid: ${issue.message}` : `is not set: ${issue.message}`;
    return `Environment variable ${name} ${problem}.`;
  });
  throw new EnvironmentError(`${sentences.join(" ")} See .env.example for every variable and its meaning.`);
}
