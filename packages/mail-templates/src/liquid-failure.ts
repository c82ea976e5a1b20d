import { TemplateError } from "./template-error.ts";

/** What went wrong in the engine, without the values that a rendering held: a filter may repeat what it was given. */
export function toTemplateError(part: TemplateError["part"], error: unknown): TemplateError {
  if (!Error.isError(error)) return new TemplateError("template_invalid", part, "it cannot be rendered.");
  // The engine adds the place to every message: "…, line:1, col:4".
  const place = /, line:\d+, col:\d+$/.exec(error.message.split("\n")[0] ?? "")?.[0] ?? "";
  switch (error.name) {
    case "UndefinedVariableError":
      return new TemplateError(
        "template_variable_missing",
        part,
        `${firstLine(error)}. Give the variable, or let the template do without by \`if\` or \`default\`.`,
      );
    case "ParseError":
    case "TokenizationError":
      return new TemplateError("template_invalid", part, `${firstLine(error)}.`);
    default:
      return /limit exceeded/.test(error.message)
        ? new TemplateError("template_too_costly", part, `it takes too much time or memory${place}.`)
        : new TemplateError("template_invalid", part, `it cannot be rendered${place}.`);
  }
}

function firstLine(error: Error): string {
  return error.message.split("\n")[0] ?? "";
}
