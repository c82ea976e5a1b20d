import { convert } from "html-to-text";
import { Parser } from "htmlparser2";
import { decodeText } from "./decode-text.ts";
import type { ReadDocument } from "./document.ts";
import { TaskRefusal } from "./task.ts";

// What is converted within some seconds.
const longest = 5_000_000;
// Each is a call deep, and what a parser does per element grows with those that are open.
const deepest = 250;

/** What a reader sees of a page: its text without its links' addresses, pictures, scripts and styles. */
export const readHtml: ReadDocument = async (content, { text }) => {
  const html = decodeText(content) ?? "";
  if (html.length > longest) throw tooComplex(`of at most ${longest} characters`);
  checkDepth(html);
  const skipped = ["img", "script", "style", "template", "noscript"];
  text.write(
    convert(html, {
      wordwrap: false,
      selectors: [
        { selector: "a", options: { ignoreHref: true } },
        ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
        { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
        ...skipped.map((selector) => ({ selector, format: "skip" })),
      ],
    }),
  );
  return null;
};

/** The converter's own parser, ended at the first element that is too deep. */
function checkDepth(html: string): void {
  let depth = 0;
  const parser = new Parser({
    onopentagname: () => {
      depth += 1;
      if (depth > deepest) throw tooComplex(`whose elements are at most ${deepest} deep in each other`);
    },
    onclosetag: () => {
      depth -= 1;
    },
  });
  parser.end(html);
}

function tooComplex(expected: string): TaskRefusal {
  return new TaskRefusal("document_too_complex", `Expected HTML ${expected}.`);
}
