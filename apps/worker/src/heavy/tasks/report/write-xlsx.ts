import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { ReportColumn } from "@millrace/worker-config/contracts";
import exceljs from "exceljs";
import type { Cell } from "./report-cell.ts";
import { malformedRow, type RowPlace, reportTooLarge } from "./report-error.ts";
import { type ReportLayout, type ReportWriter, widthOf } from "./report-writer.ts";

// https://support.microsoft.com/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3
const sheetRows = 1_048_576;
const mostCellCharacters = 32_767;
// Spreadsheets count days from 1900, whose February they take to have 29.
const firstDay = Date.UTC(1900, 2, 1);

/**
 * A workbook of one sheet. Every text is a text: none is computed. Moments are in UTC, since a spreadsheet knows no zones.
 *
 * @param mostRows beside the headings. Defaults to what a sheet holds
 */
export function createXlsxWriter(
  output: Writable,
  { title, columns }: ReportLayout,
  mostRows: number = sheetRows - 1,
): ReportWriter {
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
  let rows = 0;
  return {
    add: async (cells, place) => {
      rows++;
      if (rows > mostRows) throw reportTooLarge(`more than ${mostRows} rows, which is all that a sheet holds`);
      sheet.addRow(cells.map((cell) => toValue(cell, place))).commit();
      if (rows % 100 === 0) await zipHasRoom(sheet, output);
    },
    finish: async () => {
      await workbook.commit();
      return { unprintable: 0 };
    },
  };
}

/**
 * exceljs writes on however far its zip is behind, and says nothing about it. An empty piece that goes the same way comes through when all
 * before it have.
 */
async function zipHasRoom(sheet: exceljs.Worksheet, output: Writable): Promise<void> {
  // Not in its types: where the sheet's text goes.
  const [zip] = (sheet as unknown as { stream: { pipes: Writable[] } }).stream.pipes;
  if (!zip) return setImmediate();
  await new Promise<void>((resolve, reject) => {
    output.once("error", reject);
    zip.write("", () => {
      output.off("error", reject);
      resolve();
    });
  });
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
