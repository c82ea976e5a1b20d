import Papa from "papaparse";
import { decodeText } from "./decode-text.ts";
import type { ReadDocument } from "./document.ts";

const rowsLookedAt = 20;

/** The delimiter of a text whose first rows have the same number of columns, two or more; nothing for any other text. */
export function readTable(text: string): string | undefined {
  const { data, meta } = Papa.parse<string[]>(text, { preview: rowsLookedAt, skipEmptyLines: true });
  const columns = data[0]?.length ?? 0;
  // The last row that was looked at may be cut off only where the text is.
  return columns >= 2 && data.every((row) => row.length === columns) ? meta.delimiter : undefined;
}

/** A line per row, its cells separated by tabs. */
export const readCsv: ReadDocument = async (content, { text, progress }) => {
  const whole = decodeText(content) ?? "";
  Papa.parse<string[]>(whole, {
    delimiter: readTable(whole) ?? ",",
    skipEmptyLines: true,
    step: ({ data, meta }) => {
      text.write(`${data.map((cell) => cell.replace(/\s+/g, " ")).join("\t")}\n`);
      progress((100 * meta.cursor) / whole.length);
    },
  });
  return null;
};

export const readPlainText: ReadDocument = async (content, { text }) => {
  text.write(decodeText(content) ?? "");
  return null;
};
