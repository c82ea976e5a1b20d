import { z } from "zod";
import { StartError } from "./start-error.ts";

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of the environment have values that the program cannot start with. */
export class EnvironmentError extends StartError {
  override readonly name = "EnvironmentError";

  /** @param problems a sentence for each */
  constructor(problems: readonly string[]) {
    const hint = "See .env.example for every variable and its meaning.";
    super([...problems, hint].join(problems.length > 1 ? "\n" : " "), { problems });
  }
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
  source: Environment = process.env,
): z.output<Schema> {
  const given = Object.fromEntries(
    Object.keys(schema.shape).flatMap((name) => (source[name] ? [[name, source[name]]] : [])),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? "environment");
    const problem =
      name in given ? `is not valid: ${messageOf(issue, schema.shape[name])}` : `is not set: ${issue.message}`;
    return `Environment variable ${name} ${problem}.`;
  });
  throw new EnvironmentError(problems);
}

/** Of a text that is no number zod says that it is no number, and not which numbers may stand there. */
function messageOf(issue: z.core.$ZodIssue, field: z.ZodType | undefined): string {
  if (!field || !issue.message.endsWith("expected number, received NaN")) return issue.message;
  const { type, minimum, maximum } = z.toJSONSchema(field, { io: "output", unrepresentable: "any" });
  const from = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? ` of at least ${minimum}` : "";
  const to =
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `${from && " and"} of at most ${maximum}` : "";
  return `expected a ${type === "integer" ? "whole " : ""}number${from}${to}`;
}
