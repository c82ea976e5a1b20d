import { z } from "zod";
import type { Issue } from "./check-json.ts";

/**
 * Finds the first key of a valid value that its schema does not name, at any depth. A producer is told, because what was meant as an option
 * (`delay`) would do nothing in the payload, and a misspelt field would be lost. The worker's side stays open, or an older worker would
 * refuse what a newer producer adds. `z.looseObject` takes any key.
 *
 * What a transformation makes of a value is not looked at, nor what an intersection says.
 */
export function findUnknownKey(schema: z.core.$ZodType, value: unknown, path: string): Issue | undefined {
  // zod's own list of all kinds of schemas, so that each kind's definition can be told from the others.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return isObject(value) ? findInObject(def, value, path) : undefined;
    case "array":
      return findInParts(Object.entries(value as unknown[]), () => def.element, path);
    case "tuple":
      return findInParts(Object.entries(value as unknown[]), (index) => def.items[Number(index)] ?? def.rest, path);
    case "record":
      return findInParts(Object.entries(value as object), () => def.valueType, path);
    case "union":
      return findInUnion(def.options, value, path);
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
    case "catch":
      return value === undefined || value === null ? undefined : findUnknownKey(def.innerType, value, path);
    case "pipe":
      return findUnknownKey(def.in, value, path);
    case "lazy":
      return findUnknownKey(def.getter(), value, path);
    default:
      return undefined;
  }
}

function findInObject({ shape, catchall }: z.core.$ZodObjectDef, value: object, path: string): Issue | undefined {
  if (catchall === undefined) {
    const unknown = Object.keys(value).find((key) => !Object.hasOwn(shape, key));
    if (unknown !== undefined) return { path, message: `Unrecognized key: ${JSON.stringify(unknown)}` };
  }
  return findInParts(Object.entries(value), (key) => (Object.hasOwn(shape, key) ? shape[key] : undefined), path);
}

function findInParts(
  parts: readonly (readonly [key: string, value: unknown])[],
  schemaOf: (key: string) => z.core.$ZodType | null | undefined,
  path: string,
): Issue | undefined {
  for (const [key, value] of parts) {
    const schema = schemaOf(key);
    const issue = schema && findUnknownKey(schema, value, `${path}.${key}`);
    if (issue) return issue;
  }
  return undefined;
}

/** The value is one of those that the union knows in full, or it is told what the first that takes it does not know. */
function findInUnion(options: readonly z.core.$ZodType[], value: unknown, path: string): Issue | undefined {
  const issues = options
    .filter((option) => z.safeParse(option, value).success)
    .map((option) => findUnknownKey(option, value, path));
  return issues.includes(undefined) ? undefined : issues[0];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
