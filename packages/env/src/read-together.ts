import { type Environment, EnvironmentError } from "./parse-env.ts";
import { StartError } from "./start-error.ts";

/** Reads a part of the environment; without a source, that of the process. */
export type ReadEnv<Read> = (source?: Environment) => Read;

/**
 * Reads several parts of the environment at once, so that whoever starts a program hears of everything that is wrong, and not of one thing after
 * the other.
 *
 * @param source defaults to `process.env`
 * @returns what each reader gave, under its name
 * @throws EnvironmentError with every sentence of every reader, each once
 */
export function readTogether<Parts extends Record<string, unknown>>(
  readers: { readonly [Name in keyof Parts]: ReadEnv<Parts[Name]> },
  source?: Environment,
): Parts {
  const problems = new Set<string>();
  const parts: Partial<Parts> = {};
  for (const name in readers) {
    try {
      parts[name] = readers[name](source);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      for (const problem of error.problems) problems.add(problem);
    }
  }
  if (problems.size > 0) throw new EnvironmentError([...problems]);
  // No problem means that each reader has given its part.
  return parts as Parts;
}
