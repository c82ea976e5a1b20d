import type { z } from "zod";
import type { Issue } from "./check-json.ts";

export type InvalidJobCode = "unknown_action" | "invalid_data" | "invalid_options" | "payload_too_large";

/** A job was refused and not added. The issues say which field, what was expected and what came; never the payload. */
export class InvalidJobError extends Error {
  override readonly name = "InvalidJobError";
  readonly code: InvalidJobCode;
  readonly issues: readonly Issue[];

  constructor(code: InvalidJobCode, message: string, issues: readonly Issue[] = []) {
    super([message, ...issues.map((issue) => `${issue.path}: ${issue.message}.`)].join(" "));
    this.code = code;
    this.issues = issues;
  }
}

/** zod's issues as ours. zod names keys and expectations, never the values. */
export function toIssues(error: z.ZodError, root: string): Issue[] {
  return error.issues.map((issue) => ({
    path: [root, ...issue.path.map(String)].filter((part) => part !== "").join("."),
    message: issue.message,
  }));
}
