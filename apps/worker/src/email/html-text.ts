import { PermanentError } from "@millrace/worker-host";
import { convert } from "html-to-text";
import { Parser } from "htmlparser2";

// Far more than a mail needs, and few enough: each is a call deep, and what a parser does per element grows with those that are open.
const deepest = 250;

/**
 * An HTML part as text.
 *
 * @throws PermanentError `html_too_deep`: with thousands of elements in each other the conversion would keep the process busy for minutes
 */
export function textOf(html: string): string {
  checkDepth(html);
  return convert(html, { wordwrap: 80 });
}

/** The converter's own parser, ended at the first element that is too deep. */
function checkDepth(html: string): void {
  let depth = 0;
  const parser = new Parser({
    onopentagname: () => {
      depth += 1;
      if (depth > deepest) {
        throw new PermanentError(
          `Expected HTML whose elements are at most ${deepest} deep in each other, or a text part beside it.`,
          { code: "html_too_deep" },
        );
      }
    },
    onclosetag: () => {
      depth -= 1;
    },
  });
  parser.end(html);
}
