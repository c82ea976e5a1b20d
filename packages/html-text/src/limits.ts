import { Parser } from "htmlparser2";

/** What HTML may be, so that turning it into text takes a bounded time and depth of calls. */
export interface HtmlLimits {
  /** How many characters it may have. */
  readonly longest: number;
  /** How many elements may be in each other: each is a call deep, and what a parser does per element grows with those that are open. */
  readonly deepest: number;
  /** How many quotes and lists may be in each other, where each is written before every line in it. Defaults to `deepest`. */
  readonly deepestIndent?: number;
}

/** HTML is beyond its limits. Its message tells nothing of the content. */
export class HtmlTooCostlyError extends Error {
  override readonly name = "HtmlTooCostlyError";
  /** What would have been within them, to follow "Expected HTML". */
  readonly expected: string;

  constructor(expected: string) {
    super(`Expected HTML ${expected}.`);
    this.expected = expected;
  }
}

const indenting = /^(blockquote|ul|ol|li)$/;

/**
 * Reads with the converter's own parser, and ends at the first element that is too deep.
 *
 * @throws HtmlTooCostlyError
 */
export function requireWithin(html: string, { longest, deepest, deepestIndent = deepest }: HtmlLimits): void {
  if (html.length > longest) {
    throw new HtmlTooCostlyError(`of at most ${longest} characters, got ${html.length}`);
  }
  let [depth, indent] = [0, 0];
  const parser = new Parser({
    onopentagname: (name) => {
      depth += 1;
      if (indenting.test(name)) indent += 1;
      if (depth > deepest) {
        throw new HtmlTooCostlyError(`whose elements are at most ${deepest} deep in each other`);
      }
      if (indent > deepestIndent) {
        throw new HtmlTooCostlyError(`with at most ${deepestIndent} quotes and lists in each other`);
      }
    },
    onclosetag: (name) => {
      depth -= 1;
      if (indenting.test(name)) indent -= 1;
    },
  });
  parser.end(html);
}
