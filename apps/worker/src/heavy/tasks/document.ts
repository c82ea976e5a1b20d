import type { TextFile } from "./text-file.ts";

export interface DocumentLimits {
  /** Of everything in a docx or xlsx, unpacked. */
  readonly maxInflatedBytes: number;
  /** Pages of a PDF, sheets of a workbook. */
  readonly maxPages: number;
  /** Of the text that comes out. */
  readonly maxTextBytes: number;
}

/** What a reader of one format gets. */
export interface DocumentTools {
  readonly text: TextFile;
  readonly maxPages: number;
  progress(percent: number): void;
}

/** Writes the text of a document, and says how many pages or sheets it has, where it has any. */
export type ReadDocument = (content: Buffer, tools: DocumentTools) => Promise<number | null>;
