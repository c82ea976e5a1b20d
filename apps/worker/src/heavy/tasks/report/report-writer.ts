import type { ReportColumn } from "@millrace/worker-config/contracts";
import type { Cell } from "./report-cell.ts";
import type { RowPlace } from "./report-error.ts";

/** What a report is, apart from its rows. */
export interface ReportLayout {
  readonly title: string;
  readonly columns: readonly ReportColumn[];
  readonly page: { readonly size: "a4" | "letter"; readonly isLandscape: boolean };
}

/** Writes one kind of report to a stream, row by row, and holds no more of them than its stream asks for. */
export interface ReportWriter {
  /** @throws TaskRefusal `report_row_malformed` at this place, `report_too_large` */
  add(cells: readonly Cell[], place: RowPlace): Promise<void>;
  /**
   * Ends the stream.
   *
   * @returns how many characters have no shape in the report's font
   */
  finish(): Promise<{ readonly unprintable: number }>;
}

/** How wide a column is, in characters. */
export function widthOf({ width, type }: ReportColumn): number {
  if (width !== undefined) return width;
  return type === "text" ? 24 : 12;
}
