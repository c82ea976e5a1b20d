import { PermanentError } from "@millrace/worker-host";
import { convert } from "html-to-text";
import { Parser } from "htmlparser2";

// Far more than a mail needs, and what is converted within about a second.
const longest = 500_000;
// Each is a call deep, and what a parser does per element grows with those that are open.
const deepest = 250;
// Each is written before every line in it.
const deepestIndent = 20;
const indenting = /^(blockquote|ul|ol|li)$/;

/**
 * An HTML part as text.
 *
 * @throws PermanentError `html_too_costly`: very long, or with thousands of elements in each other, it would keep the process busy for minutes
 */
export function textOf(html: string): string {
  if (html.length > longest) throw tooCostly(`of at most ${longest} characters, got ${html.length}`);
  checkDepth(html);
  return convert(html, { wordwrap: 80 });
}

/** The converter's own parser, ended at the first element that is too deep. */
function checkDepth(html: string): void {
  let depth = 0;
  let indent = 0;
  const parser = new Parser({
    onopentagname: (name) => {
      depth += 1;
      if (indenting.test(name)) indent += 1;
      if (depth > deepest) throw tooCostly(`whose elements are at most ${deepest} deep in each other`);
      if (indent > deepestIndent) throw tooCostly(`with at most ${deepestIndent} quotes and lists in each other`);
    },
    onclosetag: (name) => {
      depth -= 1;
      if (indenting.test(name)) indent -= 1;
    },
  });
  parser.end(html);
}

function tooCostly(expected: string): PermanentError {
  return new PermanentError(`Expected HTML ${expected}, or a text part beside it.`, { code: "html_too_costly" });
}
