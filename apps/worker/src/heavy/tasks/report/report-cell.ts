import type { ReportColumn } from "@millrace/worker-config/contracts";
import type { SourceRow } from "./read-rows.ts";
import { malformedRow } from "./report-error.ts";

/** null: the cell is empty. */
export type Cell = string | number | boolean | Date | null;

/**
 * A row's values as its columns declare them. Numbers, moments and truth values may come as text, which is all that a CSV has; an empty text
 * is an empty cell.
 *
 * @throws TaskRefusal `report_row_malformed`
 */
export function toCells(columns: readonly ReportColumn[], source: SourceRow): Cell[] {
  return columns.map((column, index) => {
    const value = source.values[index];
    if (value === undefined || value === null || value === "") return null;
    const cell = converters[column.type](value);
    if (cell !== undefined) return cell;
    throw malformedRow(source, `column ${index + 1} is no ${column.type}: expected ${expected[column.type]}`);
  });
}

/** The same text in every kind of report, whatever the language of its reader. */
export function toText(column: ReportColumn, cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return column.type === "number" ? formatNumber(cell, column.format) : String(cell);
  if (cell instanceof Date) return formatDate(cell, column.type === "date" ? column.format : "yyyy-mm-dd");
  return String(cell);
}

const expected: { readonly [Type in ReportColumn["type"]]: string } = {
  text: "a text, a number or a truth value",
  number: "a number such as -12.5",
  date: "an ISO 8601 date, or a moment with its offset such as 2026-11-30T08:00:00Z",
  boolean: "true or false",
};

/** undefined: it is nothing of this type. */
const converters: { readonly [Type in ReportColumn["type"]]: (value: unknown) => Cell | undefined } = {
  text: (value) => {
    if (typeof value === "string") return printable(value);
    return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
  },
  number: (value) => {
    const number = typeof value === "string" && decimal.test(value) ? Number(value) : value;
    return typeof number === "number" && Number.isFinite(number) ? number : undefined;
  },
  date: (value) => {
    const [, day] = (typeof value === "string" && moment.exec(value)) || [];
    if (day === undefined) return undefined;
    // The 30th of February becomes a day in March by itself.
    const begin = new Date(`${day}T00:00:00Z`);
    if (Number.isNaN(begin.getTime()) || !begin.toISOString().startsWith(day)) return undefined;
    const date = new Date(String(value));
    return Number.isNaN(date.getTime()) ? undefined : date;
  },
  boolean: (value) => {
    if (typeof value === "boolean") return value;
    const word = typeof value === "string" ? value.toLowerCase() : "";
    return word === "true" || (word === "false" ? false : undefined);
  },
};

const decimal = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;
const moment = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

// Neither XML nor a page can hold them, and half a pair of surrogates is no character.
const unprintable = /(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu;

function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, "");
}

function formatNumber(value: number, format: string | undefined): string {
  if (format === undefined) return String(value);
  const decimals = format.split(".")[1]?.replace("%", "").length ?? 0;
  return format.endsWith("%") ? `${(value * 100).toFixed(decimals)}%` : value.toFixed(decimals);
}

function formatDate(date: Date, format: string): string {
  // As long as its format: the ISO form has the same parts in the same places.
  return date.toISOString().replace("T", " ").slice(0, format.length);
}
