import { TaskRefusal } from "../task.ts";

/** Where a row stands: its number from 1, and the line of the file that it begins in. Rows that came in the job have no lines. */
export interface RowPlace {
  readonly row: number;
  readonly line?: number | undefined;
}

/** A row that is not what was declared, named by its place and never by what it holds. */
export function malformedRow({ row, line }: RowPlace, flaw: string): TaskRefusal {
  const where = line === undefined ? `Row ${row}` : `Row ${row}, line ${line} of the rows' file`;
  return new TaskRefusal("report_row_malformed", `${where}: ${flaw}. Mend it and enqueue the report again.`);
}

/** @param flaw what is more than the format takes, such as `more than 10 rows` */
export function reportTooLarge(flaw: string): TaskRefusal {
  return new TaskRefusal("report_too_large", `The report has ${flaw}. Split it, or choose another format.`);
}
