import { documentText, HtmlTooCostlyError } from "@millrace/html-text";
import { decodeText } from "./decode-text.ts";
import type { ReadDocument } from "./document.ts";
import { TaskRefusal } from "./task.ts";

// What is converted within some seconds, which a thread of its own has.
const limits = { longest: 5_000_000, deepest: 250 };

/** What a reader sees of a page. */
export const readHtml: ReadDocument = async (content, { text }) => {
  text.write(toText(decodeText(content) ?? ""));
  return null;
};

function toText(html: string): string {
  try {
    return documentText(html, limits);
  } catch (error) {
    if (error instanceof HtmlTooCostlyError) throw new TaskRefusal("document_too_complex", error.message);
    throw error;
  }
}
