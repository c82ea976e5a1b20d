import { malformedRow } from "./report-error.ts";

/** The text of one row, and the line that it begins in, from 1. */
export interface RowText {
  readonly line: number;
  readonly text: string;
}

// Rows are held one at a time: a file without an end of line, or an object that never closes, must not be read whole.
const mostCharacters = 1_000_000;

/** The lines that hold something. */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<RowText> {
  let line = 1;
  let row = 1;
  let rest = "";
  for await (const chunk of chunks) {
    rest += chunk;
    let start = 0;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", start)) {
      const text = rest.slice(start, end).trim();
      if (text) {
        yield { line, text };
        row++;
      }
      start = end + 1;
      line++;
    }
    rest = rest.slice(start);
    if (rest.length > mostCharacters) throw tooLong(row, line);
  }
  if (rest.trim()) yield { line, text: rest.trim() };
}

/**
 * The elements of a JSON array, as text that its reader still has to parse: what stands between the commas of the outermost level.
 *
 * @throws TaskRefusal `report_row_malformed` for what is no array, or ends before its end
 */
export async function* splitArray(chunks: AsyncIterable<string>): AsyncGenerator<RowText> {
  let line = 1;
  let row = 1;
  /** Of brackets and braces; 1 is inside the array. */
  let depth = 0;
  let isOver = false;
  let isInString = false;
  let isEscaped = false;
  let begun = "";
  let beginsAt = 1;
  const flaw = (text: string) => malformedRow({ row, line }, text);

  for await (const chunk of chunks) {
    let start = 0;
    for (let index = 0; index < chunk.length; index++) {
      const character = chunk[index];
      if (character === "\n") line++;
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (character === "\\") isEscaped = true;
        else if (character === '"') isInString = false;
        continue;
      }
      const isSpace = character === " " || character === "\n" || character === "\r" || character === "\t";
      if (depth === 0) {
        if (isSpace) continue;
        if (isOver || character !== "[") throw flaw(isOver ? "expected nothing after the array" : "expected an array");
        depth = 1;
        start = index + 1;
        beginsAt = line;
      } else if (character === '"') isInString = true;
      else if (character === "{" || character === "[") depth++;
      else if (character === "}" || character === "]") {
        depth--;
        if (depth > 0) continue;
        if (character !== "]") throw flaw("expected ] at the end of the array");
        const text = (begun + chunk.slice(start, index)).trim();
        if (text) yield { line: beginsAt, text };
        else if (row > 1) throw flaw("expected a row after the comma");
        isOver = true;
        begun = "";
        start = chunk.length;
      } else if (character === "," && depth === 1) {
        yield { line: beginsAt, text: (begun + chunk.slice(start, index)).trim() };
        row++;
        begun = "";
        start = index + 1;
        beginsAt = line;
      } else if (isSpace && begun === "" && start === index) {
        start = index + 1;
        beginsAt = line;
      }
    }
    if (depth > 0) begun += chunk.slice(start);
    if (begun.length > mostCharacters) throw tooLong(row, beginsAt);
  }
  if (!isOver) throw flaw(depth === 0 ? "expected an array" : "the array ends before its end");
}

function tooLong(row: number, line: number): Error {
  return malformedRow({ row, line }, `expected at most ${mostCharacters} characters in a row`);
}
