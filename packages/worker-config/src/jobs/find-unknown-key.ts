import { z } from "zod";
import type { Issue } from "./check-json.ts";
import { canHoldClosedObject, unwrap } from "./closed-objects.ts";

/**
 * Finds the first key of a valid value that its schema does not name, at any depth. A producer is told, because what was meant as an option
 * (`delay`) would do nothing in the payload, and a misspelt field would be lost. The worker's side stays open, or an older worker would
 * refuse what a newer producer adds. `z.looseObject` takes any key.
 *
 * What a transformation makes of a value is not looked at, nor what an intersection says. The time grows with the value, as the parse's
 * does. Only where a `z.union` has several objects is the value parsed once more for each, and again at each level of a tree of them; a
 * `z.discriminatedUnion` needs no parse.
 */
export function findUnknownKey(schema: z.core.$ZodType, value: unknown, path: string): Issue | undefined {
  if (!isObject(value) || !canHoldClosedObject(schema)) return undefined;
  const { def } = unwrap(schema)._zod;
  switch (def.type) {
    case "object":
      return findInObject(def, value, path);
    case "array":
      return findInParts(Object.entries(value), () => def.element, path);
    case "tuple":
      return findInParts(Object.entries(value), (index) => def.items[Number(index)] ?? def.rest, path);
    case "record":
      return findInParts(Object.entries(value), () => def.valueType, path);
    case "union":
      return findInUnion(def, value, path);
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
function findInUnion(def: z.core.$ZodUnionDef, value: object, path: string): Issue | undefined {
  const possible = optionsFor(def, value);
  // The value is valid: the only option that is left is the one that takes it.
  const taking = possible.length === 1 ? possible : possible.filter((option) => z.safeParse(option, value).success);
  const issues = taking.map((option) => findUnknownKey(option, value, path));
  return issues.includes(undefined) ? undefined : issues[0];
}

/** The options that can take an object or a list such as this one, told without parsing it. */
function optionsFor(def: z.core.$ZodUnionDef, value: object): readonly z.core.$ZodType[] {
  const options = def.options.filter((option) => isOfKind(option, value));
  if (!("discriminator" in def)) return options;
  const { discriminator } = def as z.core.$ZodDiscriminatedUnionDef;
  const named = Reflect.get(value, discriminator);
  const told = options.filter(({ _zod }) => _zod.propValues?.[discriminator]?.has(named));
  return told.length === 0 ? options : told;
}

function isOfKind(option: z.core.$ZodType, value: object): boolean {
  const { def } = unwrap(option)._zod;
  switch (def.type) {
    case "union":
      return def.options.some((inner) => isOfKind(inner, value));
    case "array":
    case "tuple":
      return Array.isArray(value);
    case "object":
    case "record":
      return !Array.isArray(value);
    case "string":
    case "number":
    case "boolean":
    case "null":
    case "literal":
    case "enum":
      return false;
    default:
      return true;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
