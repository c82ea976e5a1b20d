import { type Zippable, zipSync } from "fflate";
import { afterEach, expect, test } from "vitest";
import { claimingSize, docx, encryptedPdf, nestedPdf, pdf, pdfBomb, prefixed, xlsx, xlsxOf } from "./test/documents.ts";
import { useHeavyWorker } from "./test/heavy-worker.ts";

const { run, store, read, leftovers } = useHeavyWorker();
afterEach(async () => expect(await leftovers()).toEqual([]));

const html = `<!doctype html><html><head><title>T</title><style>p { color: red }</style></head>
<body><h1>Tea</h1><p>at <a href="https://example.com/five">five</a></p><script>alert(1)</script></body></html>`;
const book = {
  Guests: [
    ["Ada", 36],
    ["Bob", new Date("2026-01-02T00:00:00Z")],
  ],
  Empty: [],
};

test.each([
  ["pdf", 2, async () => pdf(["Tea at five", "with cake"]), "Tea at five\n\nwith cake\n"],
  ["docx", null, async () => docx(["Tea at five", "mit K\u00fcchlein"]), "Tea at five\n\nmit Küchlein\n\n"],
  ["xlsx", 2, () => xlsx(book), "Guests\nAda\t36\nBob\t2026-01-02T00:00:00.000Z\n\nEmpty\n\n"],
  ["csv", null, async () => 'name;says\nAda;"tea; at\nfive"\n', "name\tsays\nAda\ttea; at five\n"],
  ["html", null, async () => html, "Tea\n\nat five"],
  ["text", null, async () => "Tea at five, perhaps.\nOr six.", "Tea at five, perhaps.\nOr six."],
])("the text of a %s comes out", async (format, pages, content, text) => {
  const seen: number[] = [];
  const fileId = await store(await content(), "doc.bin");
  const progress = async (percent: number) => void seen.push(percent);
  const found = await run("extractDocumentText", { fileId }, { progress });
  expect((await read(found.file.fileId)).toString()).toBe(text);
  expect(found).toMatchObject({ format, pages, characters: text.length });
  expect(found.file).toMatchObject({ name: "doc.txt", contentType: "text/plain; charset=utf-8" });
  expect(seen[0]).toBe(5);
});

test("a name that lies changes nothing: the content says what it is", async () => {
  const fileId = await store(pdf(["Tea at five"]), "table.xlsx");
  expect(await run("extractDocumentText", { fileId })).toMatchObject({ format: "pdf", file: { name: "table.txt" } });
});

test("text in an older encoding is text", async () => {
  for (const content of [Buffer.from("K\u00fcchlein", "latin1"), Buffer.from("\ufeffK\u00fcchlein", "utf16le")]) {
    const { file } = await run("extractDocumentText", { fileId: await store(content) });
    expect((await read(file.fileId)).toString().replace("\ufeff", "")).toBe("Küchlein");
  }
});

const zeros = (bytes: number) => new Uint8Array(bytes);
const ole = (text: string) =>
  Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(512), Buffer.from(text, "utf16le")]);
const many: Zippable = Object.fromEntries(
  Array.from({ length: 5_001 }, (_, at) => [`media/${at}`, [zeros(0), { level: 0 }]]),
);
test.each([
  ["an encrypted pdf", "file_encrypted", async () => encryptedPdf()],
  ["an encrypted docx", "file_encrypted", async () => ole("EncryptedPackage")],
  ["a doc of long ago", "file_unsupported", async () => ole("WordDocument")],
  ["an empty file", "input_empty", async () => ""],
  ["a program", "file_unsupported", async () => Buffer.from("7f454c46020101000000", "hex")],
  ["an archive of something else", "file_unsupported", async () => Buffer.from(zipSync({ "a.txt": zeros(3) }))],
  ["a pdf that is its first line", "file_damaged", async () => "%PDF-1.7\n"],
  ["a pdf that was cut off", "file_damaged", async () => pdf(["Tea at five"]).subarray(0, 60)],
  ["a docx that was cut off", "file_damaged", async () => docx(["Tea"]).subarray(0, 300)],
  ["a docx without a document in its document", "file_damaged", async () => docx(["</w:t><"])],
  ["a bomb of zeros", "archive_too_large", async () => docx(["Tea"], { "word/media/a": zeros(9_000_000) })],
  [
    "a bomb that claims to be small",
    "file_damaged",
    async () => claimingSize(docx(["Tea"], { "word/media/a": zeros(9_000_000) }), "word/media/a", 10),
  ],
  ["an archive of 5001 entries", "archive_too_large", async () => docx(["Tea"], many)],
  ["a pdf of 51 pages", "too_many_pages", async () => pdf(Array.from({ length: 51 }, () => "x"))],
  [
    "a workbook of 51 sheets",
    "too_many_pages",
    () => xlsx(Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`s${at}`, []]))),
  ],
  ["html of a thousand elements in each other", "document_too_complex", async () => `<html>${"<div>".repeat(1_000)}`],
  [
    "html of 50 bytes with a cell of ten million columns",
    "document_too_complex",
    async () => "<table><tr><td colspan=9999999>x</td></tr></table>",
  ],
  [
    "a workbook whose one row is the four billionth",
    "document_too_complex",
    () => xlsxOf('<row r="4000000000"><c r="A4000000000"><v>1</v></c></row>'),
  ],
  [
    "one text that a sheet repeats",
    "text_too_large",
    () => xlsx({ s: Array.from({ length: 100 }, () => ["x".repeat(30_000)]) }),
  ],
])("%s is dead at once, with %s", async (_name, code, content) => {
  const fileId = await store(await content());
  await expect(run("extractDocumentText", { fileId })).rejects.toMatchObject({ failureKind: "permanent", code });
});

const inRows = (...rows: readonly string[]) => xlsxOf(rows.map((cells) => `<row>${cells}</row>`).join(""));
test.each([
  ["rows and cells without an address", () => inRows("<c><v>1</v></c><c><v>2</v></c>", "<c><v>3</v></c>"), "1\t2\n3"],
  [
    "texts in the sheet, in several runs, and how they are pronounced",
    () =>
      inRows('<c t="inlineStr"><is><r><t>Te</t></r><r><t>a_x0041_</t></r><rPh sb="0" eb="1"><t>no</t></rPh></is></c>'),
    "TeaA",
  ],
  [
    "results of formulas, one of them nothing, an error and a truth",
    () => inRows('<c t="str"><f>A</f><v>a&amp;b</v></c><c><f>B</f></c><c t="e"><v>#N/A</v></c><c t="b"><v>1</v></c>'),
    "a&b\t\t#N/A\ttrue",
  ],
  [
    "numbers as they are written",
    () => inRows("<c><v>1.50E+2</v></c><c><v>0.1</v></c><c><v>-7</v></c>"),
    "150\t0.1\t-7",
  ],
])("a workbook with %s is read as it shows them", async (_name, content, text) => {
  const { file } = await run("extractDocumentText", { fileId: await store(await content()) });
  expect((await read(file.fileId)).toString()).toBe(`Guests\n${text}\n\n`);
});

test("a workbook whose elements have a prefix says the same, its shared texts and dates too", async () => {
  const { file } = await run("extractDocumentText", { fileId: await store(prefixed(await xlsx(book))) });
  expect((await read(file.fileId)).toString()).toBe("Guests\nAda\t36\nBob\t2026-01-02T00:00:00.000Z\n\nEmpty\n\n");
});

test.each([
  ["a text that the workbook does not have", '<row r="1"><c r="A1" t="s"><v>9</v></c></row>'],
  ["an element that does not end", '<row r="1"><c r="A1"><v>1</v></row>'],
])("a workbook with %s is damaged, and no part of it is passed off as the whole", async (_name, cells) => {
  const fileId = await store(await xlsxOf(cells));
  await expect(run("extractDocumentText", { fileId })).rejects.toMatchObject({ code: "file_damaged" });
});

test("what a workbook says of a million cells at once costs nothing", async () => {
  const column = "A1:A1048576";
  const fileId = await store(
    await xlsxOf(
      '<row r="1"><c r="A1"><v>36</v></c><c r="B1"/></row>',
      `<mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells><conditionalFormatting sqref="${column}"><cfRule type="cellIs" priority="1" operator="equal"><formula>1</formula></cfRule></conditionalFormatting><dataValidations count="1"><dataValidation type="list" sqref="${column}"><formula1>"a,b"</formula1></dataValidation></dataValidations>`,
    ),
  );
  const { file } = await run("extractDocumentText", { fileId });
  expect((await read(file.fileId)).toString()).toBe("Guests\n36\n\n");
});

// These end their thread: what comes after them would wait for a new one.
test("a pdf whose page unpacks to 400 MB ends at its thread's memory", async () => {
  const fileId = await store(pdfBomb(400));
  await expect(run("extractDocumentText", { fileId })).rejects.toMatchObject({ code: "out_of_memory" });
});

test("a pdf of 3 kB that draws ten billion times is dead once its time is over", async () => {
  const fileId = await store(nestedPdf());
  const reading = run("extractDocumentText", { fileId }, { settings: { maxDocumentMs: 1_000 } });
  await expect(reading).rejects.toMatchObject({ failureKind: "permanent", code: "document_too_complex" });
});
