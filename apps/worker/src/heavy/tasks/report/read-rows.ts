import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { TaskRefusal } from "../task.ts";
import { malformedRow, type RowPlace } from "./report-error.ts";
import { type RowText, splitArray, splitLines } from "./split-json.ts";

export type RowsFormat = "ndjson" | "json" | "csv";

/** What a row holds under the wanted keys, in their order: undefined where it has nothing. */
export interface SourceRow extends RowPlace {
  readonly values: readonly unknown[];
}

/** Rows that came in the job itself. */
export function* pickRows(rows: readonly object[], keys: readonly string[]): Generator<SourceRow> {
  for (const [index, row] of rows.entries()) yield { row: index + 1, values: pick(row, keys) };
}

/**
 * Reads rows from a file of UTF-8 text, one at a time. A file that holds nothing has no rows.
 *
 * @param format defaults to what the file begins with
 * @param onBytes hears of every piece that was read
 * @throws TaskRefusal `report_row_malformed`, `report_column_missing` for a key that the first line of a CSV has not
 */
export async function* readRows(
  path: string,
  keys: readonly string[],
  { format, onBytes }: { readonly format?: RowsFormat | undefined; readonly onBytes: (bytes: number) => void },
): AsyncGenerator<SourceRow> {
  const known = format ?? formatOf(await readStart(path));
  const file = createReadStream(path);
  file.on("data", (chunk) => onBytes(chunk.length));
  try {
    if (known === "csv") yield* readCsv(file, keys);
    else yield* parseRows(known === "json" ? splitArray(textOf(file)) : splitLines(textOf(file)), keys);
  } finally {
    file.destroy();
  }
}

function formatOf(start: string): RowsFormat {
  const [first] = start.replace(byteOrderMark, "").trimStart();
  if (first === "[") return "json";
  return first === "{" ? "ndjson" : "csv";
}

async function readStart(path: string): Promise<string> {
  let start = "";
  for await (const chunk of createReadStream(path, { end: 4_095, encoding: "utf8" })) start += chunk;
  return start;
}

const byteOrderMark = /^\uFEFF/;

async function* textOf(file: Readable): AsyncGenerator<string> {
  // Of a stream, not of a chunk: a character may lie in two.
  const decoder = new TextDecoder();
  for await (const chunk of file) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function* parseRows(texts: AsyncIterable<RowText>, keys: readonly string[]): AsyncGenerator<SourceRow> {
  let row = 0;
  for await (const { line, text } of texts) {
    row++;
    yield { row, line, values: pick(parseObject({ row, line }, text), keys) };
  }
}

function parseObject(place: RowPlace, text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without its cause: the parser's message quotes the text.
    throw malformedRow(place, "expected a JSON object, got no JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw malformedRow(place, "expected a JSON object, got other JSON");
}

/** Own fields alone: a column called `constructor` is empty where no row has one. */
function pick(row: object, keys: readonly string[]): unknown[] {
  // Any field of an object that was parsed may be asked for.
  const fields = row as Record<string, unknown>;
  return keys.map((key) => (Object.hasOwn(fields, key) ? fields[key] : undefined));
}

const mostRecordCharacters = 1_000_000;

async function* readCsv(file: Readable, keys: readonly string[]): AsyncGenerator<SourceRow> {
  const records = file.pipe(
    parse({ bom: true, info: true, skip_empty_lines: true, max_record_size: mostRecordCharacters }),
  );
  file.on("error", (error) => records.destroy(error));
  let indexes: number[] | undefined;
  let row = 0;
  let line = 1;
  try {
    // What `info` makes of a record; the stream itself has no type for it.
    for await (const { record, info } of records as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (indexes) {
        row++;
        yield { row, line, values: indexes.map((index) => record[index]) };
      } else {
        indexes = keys.map((key, column) => findColumn(record, key, column));
      }
      line = info.lines + 1;
    }
  } catch (error) {
    if (error instanceof CsvError) throw malformedRow({ row: row + 1, line }, csvFlaws[error.code] ?? "no valid CSV");
    throw error;
  } finally {
    records.destroy();
  }
}

// The parser's own messages quote the text.
const csvFlaws: { readonly [code: string]: string } = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: "expected as many fields as the first line has",
  CSV_MAX_RECORD_SIZE: `expected at most ${mostRecordCharacters} characters in a row`,
  CSV_QUOTE_NOT_CLOSED: "a quotation mark is not closed",
  CSV_INVALID_CLOSING_QUOTE: "expected a comma or the end of the line after a closing quotation mark",
  INVALID_OPENING_QUOTE: "expected a quotation mark at the beginning of a field alone",
};

function findColumn(heading: readonly string[], key: string, column: number): number {
  const index = heading.indexOf(key);
  if (index >= 0) return index;
  throw new TaskRefusal(
    "report_column_missing",
    `The key of column ${column + 1} is not in the first line of the CSV file, which has to name the key of each field.`,
  );
}
