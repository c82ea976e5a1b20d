import { HtmlTooCostlyError, mailText } from "@millrace/html-text";
import { PermanentError } from "@millrace/worker-host";

// Far more than a mail needs, and what is converted within about a second.
const limits = { longest: 500_000, deepest: 250, deepestIndent: 20 };

/**
 * An HTML part as text.
 *
 * @throws PermanentError `html_too_costly`: very long, or with thousands of elements in each other, it would keep the process busy for minutes
 */
export function textOf(html: string): string {
  try {
    return mailText(html, limits);
  } catch (error) {
    if (!(error instanceof HtmlTooCostlyError)) throw error;
    throw new PermanentError(`Expected HTML ${error.expected}, or a text part beside it.`, { code: "html_too_costly" });
  }
}
