import { once } from "node:events";
import type { Writable } from "node:stream";
import { toText } from "./report-cell.ts";
import type { ReportLayout, ReportWriter } from "./report-writer.ts";

/**
 * CSV as RFC 4180 has it: commas, CRLF, fields in quotation marks where they need them. It begins with a byte order mark, without which
 * spreadsheets take UTF-8 for something else.
 */
export function createCsvWriter(output: Writable, { columns }: ReportLayout): ReportWriter {
  const write = async (fields: readonly string[]) => {
    if (!output.write(`${fields.map(quote).join(",")}\r\n`)) await once(output, "drain");
  };
  output.write("\uFEFF");
  const begun = write(columns.map(({ heading }) => disarm(heading)));
  return {
    add: async (cells) => {
      await begun;
      await write(
        columns.map((column, index) => {
          const text = toText(column, cells[index] ?? null);
          return column.type === "text" ? disarm(text) : text;
        }),
      );
    },
    finish: async () => {
      await begun;
      output.end();
      return { unprintable: 0 };
    },
  };
}

// What a spreadsheet may take for a formula, the full-width forms included. https://owasp.org/www-community/attacks/CSV_Injection
const formula = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/;

/** A text that would be computed is made one that is shown: with an apostrophe before it. Numbers of a number column are none. */
function disarm(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

// Where the list separator is another, a field goes on as far as that: what follows it would be a cell, and a formula.
function quote(field: string): string {
  return /[",;\t\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
