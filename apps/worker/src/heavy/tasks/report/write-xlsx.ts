import { once } from "node:events";
import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { ReportColumn } from "@millrace/worker-config/contracts";
import exceljs from "exceljs";
import type { Cell } from "./report-cell.ts";
import { malformedRow, type RowPlace, reportTooLarge } from "./report-error.ts";
import { type ReportLayout, type ReportWriter, widthOf } from "./report-writer.ts";

// https://support.microsoft.com/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3
const mostRows = 1_048_576;
const mostCellCharacters = 32_767;
// Spreadsheets count days from 1900, whose February they take to have 29.
const firstDay = Date.UTC(1900, 2, 1);

/** A workbook of one sheet. Every text is a text: none is computed. Moments are in UTC, which a spreadsheet knows no zone for. */
export function createXlsxWriter(output: Writable, { title, columns }: ReportLayout): ReportWriter {
  const workbook = new exceljs.stream.xlsx.WorkbookWriter({ stream: output, useStyles: true, useSharedStrings: false });
  const sheet = workbook.addWorksheet(sheetNameOf(title), { views: [{ state: "frozen", ySplit: 1 }] });
  sheet.columns = columns.map((column) => ({
    header: column.heading,
    width: widthOf(column) + 2,
    style: styleOf(column),
  }));
  const heading = sheet.getRow(1);
  heading.font = { bold: true };
  heading.commit();
  let rows = 1;
  return {
    add: async (cells, place) => {
      rows++;
      if (rows > mostRows) throw reportTooLarge(`more than ${mostRows - 1} rows, which is all that a sheet holds`);
      sheet.addRow(cells.map((cell) => toValue(cell, place))).commit();
      if (rows % 100 === 0) await zipHasRoom(sheet);
    },
    finish: async () => {
      await workbook.commit();
      return { unprintable: 0 };
    },
  };
}

/** exceljs writes on however far its zip is behind, and says nothing about it: the stream between the two does. */
async function zipHasRoom(sheet: exceljs.Worksheet): Promise<void> {
  // Not in its types.
  const { pipes } = (sheet as unknown as { stream: { pipes: Writable[] } }).stream;
  const [zip] = pipes;
  if (zip && zip.writableLength >= zip.writableHighWaterMark) await once(zip, "drain");
  else await setImmediate();
}

function styleOf(column: ReportColumn): Partial<exceljs.Style> {
  if (column.type === "number" && column.format !== undefined) return { numFmt: column.format };
  return column.type === "date" ? { numFmt: column.format } : {};
}

function toValue(cell: Cell, place: RowPlace): Cell {
  if (typeof cell === "string" && cell.length > mostCellCharacters)
    throw malformedRow(place, `expected at most ${mostCellCharacters} characters in a cell of a spreadsheet`);
  return cell instanceof Date && cell.getTime() < firstDay ? cell.toISOString().slice(0, 10) : cell;
}

/** Of at most 31 characters, without those that a spreadsheet refuses. */
function sheetNameOf(title: string): string {
  const name = title.replace(/[*?:\\/[\]]/g, " ").trim();
  // Not in half a character, and not with an apostrophe at either end.
  const short = [...name].reduce(
    (text, character) => (text.length + character.length > 31 ? text : text + character),
    "",
  );
  const bare = short.replace(/^'+|'+$/g, "").trim();
  return bare === "" || bare.toLowerCase() === "history" ? "Report" : bare;
}
