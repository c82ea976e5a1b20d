import { readFile } from "node:fs/promises";
import { type DocumentFormat, detectFormat } from "./detect-format.ts";
import type { DocumentLimits, ReadDocument } from "./document.ts";
import { isMachineFault } from "./machine-fault.ts";
import { type Task, TaskRefusal } from "./task.ts";
import { openTextFile } from "./text-file.ts";

export interface ExtractTextInput extends DocumentLimits {
  readonly from: string;
  readonly to: string;
}

export interface ExtractedText {
  readonly format: DocumentFormat;
  readonly pages: number | null;
  readonly characters: number;
}

// A thread loads the one library that its document needs.
const readers: Record<DocumentFormat, () => Promise<ReadDocument>> = {
  pdf: async () => (await import("./read-pdf.ts")).readPdf,
  docx: async () => (await import("./read-docx.ts")).readDocx,
  xlsx: async () => (await import("./read-xlsx.ts")).readXlsx,
  html: async () => (await import("./read-html.ts")).readHtml,
  csv: async () => (await import("./read-csv.ts")).readCsv,
  text: async () => (await import("./read-csv.ts")).readPlainText,
};

/**
 * Refuses with `file_unsupported`, `file_encrypted`, `file_damaged`, `archive_too_large`, `too_many_pages`, `document_too_complex`,
 * `text_too_large`.
 */
export const extractText: Task<ExtractTextInput, ExtractedText> = async ({ from, to, ...limits }, { progress }) => {
  const content = await readFile(from);
  const format = await detectFormat(content, limits.maxInflatedBytes);
  progress(5);
  const read = await readers[format]();
  const text = openTextFile(to, limits.maxTextBytes);
  try {
    const pages = await read(content, {
      text,
      maxPages: limits.maxPages,
      progress: (part) => progress(5 + part * 0.9),
    });
    return { format, pages, characters: text.characters() };
  } catch (error) {
    if (error instanceof TaskRefusal || isMachineFault(error)) throw error;
    // What a parser says may repeat what it could not parse: its name alone.
    const kind = error instanceof Error ? error.name : typeof error;
    throw new TaskRefusal("file_damaged", `Expected a whole ${format} document, this one cannot be read (${kind}).`);
  } finally {
    text.close();
  }
};
