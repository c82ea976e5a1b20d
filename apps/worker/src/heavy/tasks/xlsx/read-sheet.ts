import type { Readable } from "node:stream";
import { TaskRefusal } from "../task.ts";
import { parseXml } from "./parse-xml.ts";
import { createTextItem, decodeEscapes, type Workbook } from "./read-workbook.ts";

const mostRows = 1_048_576;
const dayMs = 24 * 60 * 60 * 1_000;
/** From the first day of a workbook to that of Unix. */
const daysToUnix = { from1900: 25_569, from1904: 24_107 };

/**
 * Hands over the texts of a sheet's cells, row by row. Rows and cells that hold nothing are left out. Their addresses say nothing that their
 * order does not, and a writer may leave them out.
 *
 * @throws TaskRefusal `document_too_complex`
 * @throws Error where the sheet is damaged
 */
export async function readSheet(
  content: Readable,
  workbook: Workbook,
  onRow: (cells: readonly string[]) => void,
): Promise<void> {
  const inline = createTextItem();
  let [isInRows, isValue, isFilled] = [false, false, false];
  let cells: string[] = [];
  let [type, style, value] = ["", 0, ""];
  await parseXml(content, {
    open: (element, attribute) => {
      if (element === "sheetData") isInRows = true;
      if (!isInRows) return;
      if (element === "row") {
        cells = [];
        if (Number(attribute("r") ?? 1) > mostRows) throw tooManyRows();
      } else if (element === "c") {
        [type, style, value, isFilled] = [attribute("t") ?? "n", Number(attribute("s") ?? 0), "", false];
        inline.begin();
      } else {
        isValue = element === "v";
        isFilled ||= ["v", "f", "is"].includes(element);
        inline.open(element);
      }
    },
    text: (text) => {
      if (isValue) value += text;
      else inline.text(text);
    },
    close: (element) => {
      if (element === "sheetData") isInRows = false;
      if (!isInRows) return;
      if (element === "row") {
        if (cells.length > 0) onRow(cells);
      } else if (element === "c") {
        if (isFilled) cells.push(type === "inlineStr" ? inline.value() : textOf(type, style, value, workbook));
      } else {
        isValue = false;
        inline.close(element);
      }
    },
  });
}

function textOf(type: string, style: number, value: string, { strings, areMoments, isFrom1904 }: Workbook): string {
  if (value === "") return "";
  switch (type) {
    case "s": {
      const shared = strings[Number(value)];
      if (shared === undefined) throw new Error("Expected a text that the workbook has.");
      return shared;
    }
    case "b":
      return value === "1" ? "true" : "false";
    case "n": {
      const number = Number(value);
      if (!Number.isFinite(number)) return value;
      return (areMoments[style] && momentOf(number, isFrom1904)) || String(number);
    }
    default:
      return decodeEscapes(value);
  }
}

/** A day's number as a moment, or nothing where no calendar has it. */
function momentOf(days: number, isFrom1904: boolean): string | undefined {
  const epoch = isFrom1904 ? daysToUnix.from1904 : daysToUnix.from1900;
  const moment = new Date(Math.round((days - epoch) * dayMs));
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}

function tooManyRows(): TaskRefusal {
  return new TaskRefusal("document_too_complex", `Expected a workbook whose rows are numbered to ${mostRows} at most.`);
}
