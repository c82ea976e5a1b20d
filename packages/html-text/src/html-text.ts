import { convert } from "html-to-text";
import { type HtmlLimits, requireNarrowTables, requireWithin } from "./limits.ts";

/**
 * The text part of a mail: in lines of 80 characters, with the addresses of its links, since whoever reads the text has nothing else.
 *
 * @throws HtmlTooCostlyError
 */
export function mailText(html: string, limits: HtmlLimits): string {
  requireWithin(html, limits);
  return convert(html, { wordwrap: 80 });
}

/**
 * What a reader sees of a document, for a search or a model: its paragraphs whole and its tables as tables, without its links' addresses,
 * pictures, scripts and styles.
 *
 * @throws HtmlTooCostlyError
 */
export function documentText(html: string, limits: HtmlLimits): string {
  requireWithin(html, limits);
  requireNarrowTables(html);
  const skipped = ["img", "script", "style", "template", "noscript"];
  return convert(html, {
    wordwrap: false,
    selectors: [
      { selector: "a", options: { ignoreHref: true } },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
      ...skipped.map((selector) => ({ selector, format: "skip" })),
    ],
  });
}
