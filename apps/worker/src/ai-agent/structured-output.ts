import { outputValidator } from "@millrace/worker-config/contracts";
import { z } from "zod";

type JsonValue = z.core.util.JSONType;

export type CheckedOutput = { readonly output: JsonValue } | { readonly flaw: string };

/**
 * What a model answered, by the schema that the job asked for; or what is wrong with it, for the model to mend.
 *
 * @param text JSON, bare or in a fenced block
 */
export function checkOutput(schema: Record<string, JsonValue>, text: string): CheckedOutput {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text);
  const parsed = parseJson(fenced?.[1] ?? text);
  if (parsed === undefined) return { flaw: "it is not JSON" };
  const checked = outputValidator(schema).safeParse(parsed);
  if (!checked.success) return { flaw: z.prettifyError(checked.error).slice(0, 2_000) };
  return { output: parsed };
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
