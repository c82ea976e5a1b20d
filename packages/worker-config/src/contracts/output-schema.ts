import { z } from "zod";
import { jsonValue } from "./json-value.ts";

const maxCharacters = 10_000;

// A pattern could keep the process busy for ever on what a model answers, and a reference could lead out of the schema.
const refusedKeywords: ReadonlySet<string> = new Set([
  "pattern",
  "patternProperties",
  "propertyNames",
  "$ref",
  "$dynamicRef",
  "not",
  "if",
]);

/**
 * A JSON Schema of an object, for what a model is to answer. Of the keywords those are refused that could cost more than they are worth:
 * patterns, references and conditions.
 */
export const outputSchema = z.record(z.string(), jsonValue).superRefine((schema, context) => {
  const flaw = flawOf(schema);
  if (flaw) context.addIssue({ code: "custom", message: flaw });
});

function flawOf(schema: Record<string, z.core.util.JSONType>): string | undefined {
  const text = JSON.stringify(schema);
  if (text.length > maxCharacters) return `expected at most ${maxCharacters} characters of JSON, got ${text.length}`;
  if (schema.type !== "object") return "expected a JSON Schema whose type is object";
  const refused = findRefused(schema);
  if (refused) return `expected a JSON Schema without ${refused}`;
  try {
    outputValidator(schema);
    return undefined;
  } catch {
    return "expected a JSON Schema that can be checked";
  }
}

/** The first refused keyword. Properties may have any name. */
function findRefused(value: z.core.util.JSONType, areNames = false): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (!areNames && !Array.isArray(value) && refusedKeywords.has(key)) return key;
    const isData = !areNames && (key === "enum" || key === "const" || key === "default" || key === "examples");
    const found = isData ? undefined : findRefused(inner, !areNames && key === "properties");
    if (found) return found;
  }
  return undefined;
}

/**
 * What checks an answer by a schema that `outputSchema` took.
 *
 * @throws Error where zod knows no such schema
 */
export function outputValidator(schema: Record<string, z.core.util.JSONType>): z.ZodType {
  // The caller's JSON, whose form zod itself checks.
  return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
}
