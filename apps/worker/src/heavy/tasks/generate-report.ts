import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { pickRows, type RowsFormat, readRows, type SourceRow } from "./report/read-rows.ts";
import { toCells } from "./report/report-cell.ts";
import { reportTooLarge } from "./report/report-error.ts";
import type { ReportLayout, ReportWriter } from "./report/report-writer.ts";
import { createCsvWriter } from "./report/write-csv.ts";
import { createPdfWriter } from "./report/write-pdf.ts";
import { createXlsxWriter } from "./report/write-xlsx.ts";
import type { Task } from "./task.ts";

export interface GenerateReportInput extends ReportLayout {
  readonly format: "xlsx" | "csv" | "pdf";
  /** The rows themselves, or the file that has them. */
  readonly rows: readonly object[] | { readonly path: string; readonly format?: RowsFormat | undefined };
  readonly to: string;
  /** The largest report, in bytes. */
  readonly maxBytes: number;
}

export interface GeneratedReport {
  readonly rows: number;
  /** Characters that the report's font has no shape for. */
  readonly unprintable: number;
}

const writers: {
  readonly [Format in GenerateReportInput["format"]]: (output: Writable, layout: ReportLayout) => ReportWriter;
} = { xlsx: createXlsxWriter, csv: createCsvWriter, pdf: createPdfWriter };

// What is left is the way into the store.
const mostProgress = 95;

/**
 * Writes the report to a file, with a row in memory at a time.
 *
 * @throws TaskRefusal `report_row_malformed`, `report_column_missing`, `report_too_large`
 */
export const generateReport: Task<GenerateReportInput, GeneratedReport> = async (input, { progress }) => {
  const output = createWriteStream(input.to, { flags: "wx", mode: 0o600 });
  const ended = finished(output);
  // Heard at the end, and before each row.
  ended.catch(() => {});
  try {
    const writer = writers[input.format](output, input);
    let rows = 0;
    for await (const source of rowsOf(input, progress)) {
      if (output.errored) throw output.errored;
      await writer.add(toCells(input.columns, source), source);
      rows++;
      if (output.bytesWritten > input.maxBytes) throw reportTooLarge(`more than ${input.maxBytes} bytes`);
    }
    // Both at once: a writer whose stream has failed waits for ever.
    const [{ unprintable }] = await Promise.all([writer.finish(), ended]);
    progress(mostProgress);
    return { rows, unprintable };
  } finally {
    output.destroy();
  }
};

async function* rowsOf(
  { rows, columns }: GenerateReportInput,
  progress: (percent: number) => void,
): AsyncGenerator<SourceRow> {
  const keys = columns.map(({ key }) => key);
  if (!("path" in rows)) {
    yield* pickRows(rows, keys);
    return;
  }
  const { size } = await stat(rows.path);
  let bytes = 0;
  const onBytes = (more: number) => {
    bytes += more;
    progress((bytes / size) * mostProgress);
  };
  yield* readRows(rows.path, keys, { format: rows.format, onBytes });
}
