import ExcelJS, { type CellValue } from "exceljs";
import type { ReadDocument } from "./document.ts";
import { TaskRefusal } from "./task.ts";

const mostRows = 1_048_576;
// What a sheet has beside its cells: the library makes an object for each of the million cells that such a range may name.
const besideCells = [
  ...["cols", "mergeCells", "dataValidations", "conditionalFormatting", "hyperlinks"],
  ...["drawing", "picture", "tableParts", "rowBreaks", "extLst"],
];

/** Per sheet its name, a line per row, cells separated by tabs, and an empty line. Formulas are their results as they were saved. */
export const readXlsx: ReadDocument = async (content, { text, maxPages, progress }) => {
  const workbook = new ExcelJS.Workbook();
  // A filter over a table is a name of all its cells, and the library makes an object for each: no name is kept.
  Object.defineProperty(workbook.definedNames, "model", { get: () => [], set: () => {} });
  // Its types know no Buffer of today's Node.
  await workbook.xlsx.load(content as unknown as ArrayBuffer, { ignoreNodes: besideCells });
  const { worksheets } = workbook;
  if (worksheets.length > maxPages)
    throw new TaskRefusal(
      "too_many_pages",
      `Expected at most ${maxPages} sheets (HEAVY_MAX_PAGES), got ${worksheets.length}.`,
    );
  for (const [index, sheet] of worksheets.entries()) {
    // Its rows are an array with holes, which is gone through to the last one.
    if (sheet.rowCount > mostRows)
      throw new TaskRefusal(
        "document_too_complex",
        `Expected a workbook whose rows are numbered to ${mostRows} at most.`,
      );
    text.write(`${sheet.name}\n`);
    sheet.eachRow((row) => {
      const cells: string[] = [];
      row.eachCell((cell) => {
        cells.push(textOf(cell.value).replace(/\s+/g, " "));
      });
      text.write(`${cells.join("\t")}\n`);
    });
    text.write("\n");
    progress((100 * (index + 1)) / worksheets.length);
  }
  return worksheets.length;
};

function textOf(value: CellValue): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object") return String(value);
  if ("richText" in value) return value.richText.map(({ text }) => text).join("");
  if ("text" in value) return textOf(value.text);
  if ("result" in value) return textOf(value.result);
  return "error" in value ? value.error : "";
}
