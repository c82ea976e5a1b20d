/**
 * - `template_invalid`: the template itself is broken.
 * - `template_variable_missing`: it names a variable that was not given, outside of `if` and without `default`.
 * - `template_too_costly`: rendering took too long, or made too much.
 */
export type TemplateErrorCode = "template_invalid" | "template_variable_missing" | "template_too_costly";

/** Why no mail could be made. Trying again cannot help. It quotes the template and never what it was rendered with. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  // By its fields the worker host knows what it means for a job.
  readonly failureKind = "permanent";
  readonly code: TemplateErrorCode;
  /** Where it stands. */
  readonly part: "subject" | "html" | "text";

  constructor(code: TemplateErrorCode, part: TemplateError["part"], message: string) {
    super(`The template's ${part}: ${message}`);
    this.code = code;
    this.part = part;
  }
}
