import type { Logger } from "@millrace/logger";
import type { z } from "zod";

/**
 * What is kept of what a handler returned. A result that its schema refuses, or that is no JSON, is dropped and not retried: the effect
 * has happened, and must not happen again for its report's sake.
 */
export function toStoredResult(
  schema: z.ZodType | undefined,
  returned: unknown,
  context: { readonly log: Logger },
): unknown {
  if (!schema) return undefined;
  const parsed = schema.safeParse(returned);
  if (parsed.success && isJson(parsed.data)) return parsed.data;
  const fields = parsed.error?.issues.map((issue) => issue.path.join(".")) ?? ["(not JSON)"];
  context.log.warn({ code: "result_dropped", fields }, "result not valid");
  return undefined;
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
