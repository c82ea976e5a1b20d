/** A cell, or a cell and how it is painted once its width is known. */
export type Cell = string | number | { readonly text: string; readonly paint: (text: string) => string };

/** Rows in columns, aligned by their widest cell; a column of numbers stands at its right edge. */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  paintHead: (text: string) => string,
): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => printable(textOf(row[column] ?? "")).length)),
  );
  const isNumeric = head.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"));
  const pad = (text: string, column: number) => {
    const width = widths[column] ?? 0;
    if (isNumeric[column]) return text.padStart(width);
    return column === head.length - 1 ? text : text.padEnd(width);
  };
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const padded = pad(printable(textOf(cell)), column);
        return typeof cell === "object" ? cell.paint(padded) : padded;
      })
      .join("  ")
      .trimEnd(),
  );
  return [paintHead(head.map(pad).join("  ").trimEnd()), ...lines].join("\n");
}

/** Names and values below each other. What is null or undefined is left out. */
export function renderFields(fields: readonly (readonly [name: string, value: Cell | null | undefined])[]): string {
  const given = fields.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, value] as const],
  );
  const width = Math.max(0, ...given.map(([name]) => name.length));
  return given
    .map(([name, value]) => {
      const text = printable(textOf(value));
      return `${name.padEnd(width)}  ${typeof value === "object" ? value.paint(text) : text}`;
    })
    .join("\n");
}

function textOf(cell: Cell): string {
  return typeof cell === "object" ? cell.text : String(cell);
}

/** Text from outside on one line, without what a terminal would take for a command (a job's error may hold anything). */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ").trimEnd();
}

/** Cells beside each other; empty ones are left out. */
export function renderLine(cells: readonly Cell[]): string {
  return cells
    .filter((cell) => textOf(cell) !== "")
    .map((cell) => (typeof cell === "object" ? cell.paint(printable(cell.text)) : printable(textOf(cell))))
    .join("  ");
}
