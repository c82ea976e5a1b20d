import { z } from "zod";

const formats: ReadonlyMap<unknown, string> = new Map([
  ["date-time", "2030-01-01T00:00:00Z"],
  ["date", "2030-01-01"],
  ["email", "ada@example.com"],
  ["uri", "https://example.com/"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
]);

/**
 * A small value that fits a JSON Schema, made of its types, choices, bounds and formats: the first choice, the least number, as few items as
 * show one. Undefined where that takes more than reading the schema once.
 */
export function exampleOfSchema(schema: object): unknown {
  const value = exampleOf({ ...schema });
  try {
    // Whoever checks an answer reads the schema in the same way. It is the caller's JSON, whose form zod itself checks.
    return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema).safeParse(value).success ? value : undefined;
  } catch {
    return undefined;
  }
}

function exampleOf(schema: Record<string, unknown>): unknown {
  const [first] = Array.isArray(schema.enum) ? schema.enum : [];
  if ("const" in schema) return schema.const;
  if (first !== undefined) return first;
  const [choice] = listOf(schema.anyOf ?? schema.oneOf);
  if (choice) return exampleOf(choice);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string":
      return exampleText(schema);
    case "integer":
    case "number":
      return exampleNumber(schema);
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return exampleList(schema);
    case "object":
      return exampleObject(schema);
    default:
      return undefined;
  }
}

function exampleText({ format, minLength, maxLength }: Record<string, unknown>): string | undefined {
  if (format !== undefined) return formats.get(format);
  return "demo".padEnd(numberOr(0, minLength), ".").slice(0, numberOr(1_000, maxLength));
}

function exampleNumber({ type, minimum, exclusiveMinimum, maximum, multipleOf }: Record<string, unknown>): number {
  const above = typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : undefined;
  const least = numberOr(Math.min(0, numberOr(0, maximum)), minimum ?? above);
  const step = numberOr(type === "integer" ? 1 : 0, multipleOf);
  return step > 0 ? Math.ceil(least / step) * step : least;
}

function exampleList({ items, minItems, maxItems }: Record<string, unknown>): unknown[] | undefined {
  const [item] = listOf([items]);
  const value = item && exampleOf(item);
  const length = Math.min(Math.max(1, numberOr(0, minItems)), numberOr(100, maxItems));
  return value === undefined ? [] : Array.from({ length }, () => value);
}

function exampleObject({ properties = {} }: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(properties ?? {}).flatMap(([key, property]) => {
    const [schema] = listOf([property]);
    const value = schema && exampleOf(schema);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(entries);
}

function listOf(schemas: unknown): Record<string, unknown>[] {
  const list: unknown[] = Array.isArray(schemas) ? schemas : [];
  return list.flatMap((schema) => (typeof schema === "object" && schema !== null ? [{ ...schema }] : []));
}

function numberOr(fallback: number, value: unknown): number {
  return typeof value === "number" ? value : fallback;
}
