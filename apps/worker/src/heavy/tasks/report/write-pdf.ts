import { once } from "node:events";
import { createRequire } from "node:module";
import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import PDFDocument from "pdfkit";
import { toText } from "./report-cell.ts";
import { reportTooLarge } from "./report-error.ts";
import { type ReportLayout, type ReportWriter, widthOf } from "./report-writer.ts";

// In points, 72 to the inch.
const margin = 36;
const gap = 8;
const fontSize = 8;
const titleSize = 14;

const pdfRows = 100_000;
// A cell is cut with an ellipsis after so much, so that one long text takes no page for itself.
const mostLines = 6;
const mostCharacters = 1_000;

/**
 * A table over as many pages as it needs: the title on the first, headings and a number on each. Its font, DejaVu Sans, goes into the file;
 * it has Latin, Greek, Cyrillic, Armenian and Georgian, and many signs, but no Chinese, Japanese or Korean. Hebrew and Arabic have their
 * letters, and not their direction.
 *
 * @param mostRows defaults to 100,000, some two thousand pages
 */
export function createPdfWriter(
  output: Writable,
  { title, columns, page }: ReportLayout,
  mostRows: number = pdfRows,
): ReportWriter {
  const doc = new PDFDocument({
    size: page.size.toUpperCase(),
    layout: page.isLandscape ? "landscape" : "portrait",
    margin: 0,
    autoFirstPage: false,
    info: { Title: title },
  });
  doc.registerFont("plain", fontFile("DejaVuSansCondensed.ttf"));
  doc.registerFont("bold", fontFile("DejaVuSansCondensed-Bold.ttf"));
  doc.pipe(output);
  const countUnprintable = createUnprintableCount(doc.font("plain"));

  let left: number[] = [];
  let widths: number[] = [];
  let y = 0;
  let pages = 0;
  let rows = 0;
  let unprintable = 0;

  const heightOf = (texts: readonly string[]) =>
    Math.max(...texts.map((text, index) => Math.min(measure(doc, text, widths[index] ?? 0), mostLines))) *
    doc.currentLineHeight(true);
  const drawRow = (texts: readonly string[], height: number) => {
    for (const [index, text] of texts.entries()) {
      if (text === "") continue;
      doc.text(text, left[index], y, {
        width: widths[index] ?? 0,
        // Less than a line more, for the last one is drawn when there is room for it.
        height: height + 1,
        ellipsis: "…",
        align: columns[index]?.type === "number" ? "right" : "left",
      });
    }
    y += height + gap / 2;
  };
  const headings = columns.map(({ heading }) => cut(heading));
  const beginPage = () => {
    doc.addPage();
    pages++;
    doc.font("plain").fontSize(fontSize);
    doc.text(String(pages), margin, doc.page.height - margin, {
      width: doc.page.width - 2 * margin,
      align: "center",
      lineBreak: false,
    });
    y = margin;
    if (pages === 1) {
      ({ left, widths } = columnsOf(columns.map(widthOf), doc.page.width - 2 * margin));
      doc.font("bold").fontSize(titleSize);
      doc.text(title, margin, y, { width: doc.page.width - 2 * margin });
      y = doc.y + gap;
    }
    doc.font("bold").fontSize(fontSize);
    drawRow(headings, heightOf(headings));
    doc.moveTo(margin, y - gap / 4).lineTo(doc.page.width - margin, y - gap / 4);
    doc.lineWidth(0.5).stroke();
    y += gap / 2;
    doc.font("plain");
  };
  unprintable += countUnprintable(title) + headings.reduce((sum, text) => sum + countUnprintable(text), 0);
  beginPage();

  return {
    add: async (cells) => {
      rows++;
      if (rows > mostRows) throw reportTooLarge(`more than ${mostRows} rows, which is all that a pdf is made for`);
      const texts = columns.map((column, index) => cut(toText(column, cells[index] ?? null)));
      for (const text of texts) unprintable += countUnprintable(text);
      const height = heightOf(texts);
      if (y + height > doc.page.height - margin - gap) {
        beginPage();
        await hasRoom(output);
      }
      drawRow(texts, height);
    },
    finish: async () => {
      doc.end();
      return { unprintable };
    },
  };
}

function fontFile(name: string): string {
  return createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}`);
}

/** Where each column begins and how wide it is: shares of the page, in the proportion of their characters. */
function columnsOf(characters: readonly number[], available: number): { left: number[]; widths: number[] } {
  const room = available - gap * (characters.length - 1);
  const all = characters.reduce((sum, width) => sum + width, 0);
  const widths = characters.map((width) => (room * width) / all);
  let x = margin;
  const left = widths.map((width) => {
    const start = x;
    x += width + gap;
    return start;
  });
  return { left, widths };
}

function cut(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters).toWellFormed()}…` : text;
}

/** In lines. Most cells have one, which is cheaper to see than to lay out. */
function measure(doc: PDFKit.PDFDocument, text: string, width: number): number {
  if (!text.includes("\n") && doc.widthOfString(text) <= width) return 1;
  return Math.round(doc.heightOfString(text, { width }) / doc.currentLineHeight(true));
}

function createUnprintableCount(doc: PDFKit.PDFDocument): (text: string) => number {
  // Not in its types: the font that is chosen at the moment, as fontkit opened it.
  const { font } = (doc as unknown as { _font: { font: { hasGlyphForCodePoint(codePoint: number): boolean } } })._font;
  const known = new Map<string, number>([
    ["\n", 0],
    ["\t", 0],
    ["\r", 0],
  ]);
  return (text) => {
    let count = 0;
    for (const character of text) {
      let missing = known.get(character);
      if (missing === undefined) {
        missing = font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0) ? 0 : 1;
        known.set(character, missing);
      }
      count += missing;
    }
    return count;
  };
}

/** A page is compressed when the event loop turns, and its bytes wait for a stream that is full. */
async function hasRoom(output: Writable): Promise<void> {
  await setImmediate();
  if (output.writableNeedDrain) await once(output, "drain");
}
