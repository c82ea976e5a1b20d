import { expect, test } from "vitest";
import { documentText, HtmlTooCostlyError, mailText } from "./index.ts";

const limits = { longest: 100_000, deepest: 250 };
const html =
  '<h1>Mills</h1><p>See <a href="https://example.com/mill">the mill</a>.<img src="x.png" alt="A wheel"></p><script>x()</script>';

test("a mail's text keeps the addresses of its links, and a document's has what a reader sees alone", () => {
  expect(mailText(html, limits)).toContain("the mill [https://example.com/mill]");
  expect(documentText(html, limits)).toMatch(/^Mills\s+See the mill\.$/);
});

test("each caller's limits hold, and the refusal says which and not a word of the content", () => {
  const quotes = `${"<blockquote>".repeat(21)}MARKER`;
  expect(mailText(quotes, limits)).toContain("MARKER");
  for (const [given, sentence] of [
    [{ ...limits, deepestIndent: 20 }, "Expected HTML with at most 20 quotes and lists in each other."],
    [{ ...limits, deepest: 20 }, "Expected HTML whose elements are at most 20 deep in each other."],
    [{ ...limits, longest: 10 }, `Expected HTML of at most 10 characters, got ${quotes.length}.`],
  ] as const) {
    expect(() => documentText(quotes, given)).toThrow(new HtmlTooCostlyError(sentence.slice(14, -1)));
  }
});

test.each([
  ["a cell of ten million columns", "<tr><td colspan=9999999>x", "tables have at most 2000 columns"],
  ["a row of wide cells", `<tr>${"<td colspan=1000>x".repeat(3)}`, "tables have at most 2000 columns"],
  ["a cell of ten million rows", "<tr><th rowspan='1e7'>x", "cells span at most 2000 rows"],
  [
    "rows of large cells",
    "<tr><td colspan=500 rowspan=500>x".repeat(2),
    "cells of several rows have at most 100000 places in all",
  ],
])("%s is refused where tables are laid out; a mail's text has none", (_name, rows, expected) => {
  const table = `<table>${rows}</table>`;
  expect(() => documentText(table, limits)).toThrow(new HtmlTooCostlyError(`whose ${expected}`));
  expect(mailText(table, limits)).toContain("x");
});

test("ordinary tables are laid out, however many rows of theirs have a wide cell", () => {
  const rows = "<tr><td colspan=3>Total</td></tr><tr><td rowspan=2>a</td><td>b</td><td>c</td></tr>";
  expect(documentText(`<table>${rows.repeat(300)}</table>`, limits)).toMatch(/^Total\na +b +c/);
});
