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
// Browsers take a cell for at most 1,000 columns wide; a row that is laid out takes a time that grows with the square of its columns.
const widestRow = 2_000;
const tallestCell = 2_000;
const mostSpanned = 100_000;

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

/**
 * For HTML whose tables are laid out, with a place for each column and row that a cell spans: a cell claims as many as it likes in ten characters.
 *
 * @throws HtmlTooCostlyError
 */
export function requireNarrowTables(html: string): void {
  let [columns, spanned] = [0, 0];
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (name === "tr") columns = 0;
      if (name !== "td" && name !== "th") return;
      const [width, height] = [spanOf(attributes.colspan), spanOf(attributes.rowspan)];
      columns += width;
      // Cells of several rows push what is below them to the right, so that no row alone says how wide a table becomes.
      if (height > 1) spanned += width * height;
      if (columns > widestRow) throw new HtmlTooCostlyError(`whose tables have at most ${widestRow} columns`);
      if (height > tallestCell) throw new HtmlTooCostlyError(`whose cells span at most ${tallestCell} rows`);
      if (spanned > mostSpanned) {
        throw new HtmlTooCostlyError(`whose cells of several rows have at most ${mostSpanned} places in all`);
      }
    },
  });
  parser.end(html);
}

/** As the converter reads it: what is no number spans one. */
function spanOf(value: string | undefined): number {
  return Math.max(Number(value) || 1, 1);
}
