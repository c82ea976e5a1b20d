import { Liquid, type LiquidOptions, type Template } from "liquidjs";
import { toTemplateError } from "./liquid-failure.ts";
import { TemplateError } from "./template-error.ts";

/** A mail's parts as Liquid. At least one of html and text. */
export interface MailTemplateSource {
  readonly subject: string;
  readonly html?: string | undefined;
  readonly text?: string | undefined;
}

export interface RenderedMail {
  /** One line. */
  readonly subject: string;
  readonly html?: string;
  readonly text?: string;
}

export interface MailTemplate {
  /** @throws TemplateError */
  render(variables: Readonly<Record<string, unknown>>): Promise<RenderedMail>;
}

// Whoever writes a template need not be whoever runs the worker: a template reads no file, calls nothing, and cannot keep a process busy.
const limits = { parseLimit: 500_000, renderLimit: 1_000, memoryLimit: 10_000_000 };
const longestPart = 2_000_000;
// RFC 5322, 2.1.1.
const longestSubject = 998;
const tagsThatReadFiles = ["include", "render", "layout", "block"];

const textEngine = createEngine({});
const htmlEngine = createEngine({ outputEscape: "escape" });

function createEngine(options: LiquidOptions): Liquid {
  const engine = new Liquid({
    ...options,
    ...limits,
    ownPropertyOnly: true,
    strictFilters: true,
    // A mail that says "Dear ," is worse than none. What may be missing is said by `if` or `default`.
    strictVariables: true,
    lenientIf: true,
    // Else a mail would depend on the machine that sends it.
    timezoneOffset: 0,
    locale: "en",
    templates: {},
  });
  for (const tag of tagsThatReadFiles) delete engine.tags[tag];
  return engine;
}

/**
 * Understands a template. Values are escaped in html (unless the template says `raw`) and as they are in subject and text. A variable that
 * is missing is an error, but for what stands in an `if` or has a `default`. Times are UTC.
 *
 * @throws TemplateError `template_invalid`
 */
export function parseMailTemplate({ subject, html, text }: MailTemplateSource): MailTemplate {
  const parts = {
    subject: parsePart(textEngine, "subject", subject),
    ...(html !== undefined && { html: parsePart(htmlEngine, "html", html) }),
    ...(text !== undefined && { text: parsePart(textEngine, "text", text) }),
  };
  return {
    render: async (variables) => ({
      subject: toOneLine(await renderPart(textEngine, "subject", parts.subject, variables)),
      ...(parts.html && { html: await renderPart(htmlEngine, "html", parts.html, variables) }),
      ...(parts.text && { text: await renderPart(textEngine, "text", parts.text, variables) }),
    }),
  };
}

function parsePart(engine: Liquid, part: TemplateError["part"], source: string): Template[] {
  try {
    return engine.parse(source);
  } catch (error) {
    throw toTemplateError(part, error);
  }
}

async function renderPart(
  engine: Liquid,
  part: TemplateError["part"],
  parsed: Template[],
  variables: object,
): Promise<string> {
  const rendered = await engine.render(parsed, variables).catch((error: unknown) => {
    throw toTemplateError(part, error);
  });
  // Nothing but text goes through an engine that keeps no types.
  const text = String(rendered);
  if (text.length > longestPart) {
    throw new TemplateError(
      "template_too_costly",
      part,
      `expected at most ${longestPart} characters, got ${text.length}.`,
    );
  }
  return text;
}

/** A line break in a subject would begin another header. */
function toOneLine(subject: string): string {
  const line = subject.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  if (line !== "" && line.length <= longestSubject) return line;
  throw new TemplateError(
    "template_invalid",
    "subject",
    `expected 1 to ${longestSubject} characters when rendered, got ${line.length}.`,
  );
}
