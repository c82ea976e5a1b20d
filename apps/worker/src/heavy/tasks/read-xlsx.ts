import type { ReadDocument } from "./document.ts";
import { TaskRefusal } from "./task.ts";
import { openParts } from "./xlsx/open-parts.ts";
import { readSheet } from "./xlsx/read-sheet.ts";
import { readWorkbook } from "./xlsx/read-workbook.ts";

/** Per sheet its name, a line per row, cells separated by tabs, and an empty line. Formulas are their results as they were saved. */
export const readXlsx: ReadDocument = async (content, { text, maxPages, progress }) => {
  const open = await openParts(content);
  const workbook = await readWorkbook(open);
  const { sheets } = workbook;
  if (sheets.length > maxPages)
    throw new TaskRefusal(
      "too_many_pages",
      `Expected at most ${maxPages} sheets (HEAVY_MAX_PAGES), got ${sheets.length}.`,
    );
  for (const [index, { name, part }] of sheets.entries()) {
    text.write(`${name}\n`);
    await readSheet(await open(part), workbook, (cells) =>
      text.write(`${cells.map((cell) => cell.replace(/\s+/g, " ")).join("\t")}\n`),
    );
    text.write("\n");
    progress((100 * (index + 1)) / sheets.length);
  }
  return sheets.length;
};
