import { checkArchive } from "./check-archive.ts";
import { decodeText } from "./decode-text.ts";
import { readTable } from "./read-csv.ts";
import { TaskRefusal } from "./task.ts";

export type DocumentFormat = "pdf" | "docx" | "xlsx" | "html" | "csv" | "text";

const oleSignature = Buffer.from("d0cf11e0a1b11ae1", "hex");
// Office puts an encrypted document into a container of the old kind, in a stream of this name.
const encryptedStream = Buffer.from("EncryptedPackage", "utf16le");

/**
 * What a document is, by its content alone: names and declared types are what somebody claims.
 *
 * @param maxInflatedBytes of what is in an archive; no library gets one that holds more
 * @throws TaskRefusal `file_unsupported`, `file_encrypted`, `file_damaged`, `archive_too_large`
 */
export async function detectFormat(content: Buffer, maxInflatedBytes: number): Promise<DocumentFormat> {
  // Some programs write a few lines before it.
  if (content.subarray(0, 1_024).includes("%PDF-")) return "pdf";
  if (content.subarray(0, 2).equals(Buffer.from("PK"))) {
    const names = await checkArchive(content, maxInflatedBytes);
    if (names.has("word/document.xml")) return "docx";
    if (names.has("xl/workbook.xml")) return "xlsx";
    throw unsupported("an archive without one in it");
  }
  if (content.subarray(0, 8).equals(oleSignature)) {
    if (content.includes(encryptedStream))
      throw new TaskRefusal("file_encrypted", "Expected a document without a password, this one is encrypted.");
    throw unsupported("a document of Office 2003 or earlier");
  }
  const text = decodeText(content);
  if (text === undefined) throw unsupported("something else");
  if (isHtml(text)) return "html";
  return readTable(text) ? "csv" : "text";
}

function isHtml(text: string): boolean {
  const start = text.slice(0, 4_096).trimStart();
  return (
    start.startsWith("<") && /<(!doctype html|html|head|body|title|table|div|p|h1|ul|section|article)\b/i.test(start)
  );
}

function unsupported(got: string): TaskRefusal {
  return new TaskRefusal("file_unsupported", `Expected a pdf, docx, xlsx, html, csv or text document, got ${got}.`);
}
