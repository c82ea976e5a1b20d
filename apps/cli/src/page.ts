import type { Cli } from "./cli.ts";
import { type Cell, renderTable } from "./table.ts";

/** A page of a list, and how to get the next one. */
export interface Page {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly cursor: string | null;
  /** What to say of a page without rows at the end of a list. */
  readonly empty: string;
}

export function renderPage(cli: Cli, { head, rows, cursor, empty }: Page): string {
  const table = rows.length > 0 ? renderTable(head, rows, (text) => cli.paint("bold", text)) : "";
  const next = cursor === null ? "" : cli.paint("dim", `more with --cursor ${cursor}`);
  return [table, next].filter((part) => part !== "").join("\n") || empty;
}
