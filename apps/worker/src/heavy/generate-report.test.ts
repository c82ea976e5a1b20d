import { heavyContract } from "@millrace/worker-config/contracts";
import exceljs from "exceljs";
import { getDocumentProxy } from "unpdf";
import { afterEach, expect, test } from "vitest";
import { useHeavyWorker } from "./test/heavy-worker.ts";

const { run, store, read, leftovers } = useHeavyWorker();
afterEach(async () => expect(await leftovers()).toEqual([]));

const columns = [
  { key: "name", heading: "Name", type: "text" },
  { key: "total", heading: "Total", type: "number", format: "0.00" },
  { key: "share", heading: "Share", type: "number", format: "0.0%" },
  { key: "at", heading: "At", type: "date", format: "yyyy-mm-dd hh:mm" },
  { key: "isPaid", heading: "Paid", type: "boolean" },
];
const rows = [
  { name: "Ada, Countess", total: 1_234.5, share: 0.125, at: "2026-11-30T14:05:00+02:00", isPaid: true },
  { name: 'Grace "Amazing" Hopper', total: -7, at: "2026-11-30" },
];
const report = (format: string, more: object = {}) => ({ format, title: "Orders", columns, rows, ...more });
const csvOf = async (data: object) => {
  const { file } = await run("generateReport", data);
  return (await read(file.fileId)).toString();
};

test("a CSV is one that RFC 4180 describes, and shows everything as its columns say", async () => {
  const made = await run("generateReport", report("csv"));
  expect(made).toMatchObject({ rows: 2, unprintable: 0 });
  expect(made.file).toMatchObject({ name: "Orders.csv", contentType: "text/csv; charset=utf-8" });
  expect((await read(made.file.fileId)).toString()).toBe(
    [
      "\uFEFFName,Total,Share,At,Paid",
      '"Ada, Countess",1234.50,12.5%,2026-11-30 12:05,true',
      '"Grace ""Amazing"" Hopper",-7.00,,2026-11-30 00:00,',
      "",
    ].join("\r\n"),
  );
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1"])(
  "a text that a spreadsheet would compute is shown: %j",
  async (name) => {
    const csv = await csvOf(
      report("csv", { columns: [{ key: "name", heading: "=1", type: "text" }], rows: [{ name }] }),
    );
    const [heading, ...field] = csv.split("\r\n");
    expect(heading).toBe("\uFEFF'=1");
    expect(field.join("\r\n").replace(/^"/, "")).toMatch(/^'/);
  },
);

test.each(["x;=1+1", "x\t=1+1"])("a text stays one cell where another list separator holds: %j", async (name) => {
  const csv = await csvOf(
    report("csv", { columns: [{ key: "name", heading: "a;b", type: "text" }], rows: [{ name }] }),
  );
  expect(csv).toBe(`\uFEFF"a;b"\r\n"${name}"\r\n`);
});

test("a spreadsheet has numbers, moments and truth values, and a formula in a text stays a text", async () => {
  const evil = { name: "=HYPERLINK(1)\u0000", total: 1, at: "1899-12-31" };
  const { file } = await run("generateReport", report("xlsx", { title: "Q4: [all]", rows: [...rows, evil] }));
  expect(file).toMatchObject({ contentType: expect.stringContaining("spreadsheetml.sheet") });
  const workbook = new exceljs.Workbook();
  await workbook.xlsx.load((await read(file.fileId)).buffer as ArrayBuffer);
  const sheet = workbook.getWorksheet("Q4   all");
  const valuesOf = (row: number) => columns.map((_, index) => sheet?.getRow(row).getCell(index + 1).value);
  expect(valuesOf(1)).toEqual(["Name", "Total", "Share", "At", "Paid"]);
  expect(valuesOf(2)).toEqual(["Ada, Countess", 1_234.5, 0.125, new Date("2026-11-30T12:05:00Z"), true]);
  expect(valuesOf(4)).toEqual(["=HYPERLINK(1)", 1, null, "1899-12-31", null]);
  expect(sheet?.getRow(2).getCell(2).numFmt).toBe("0.00");
});

test("a PDF repeats its headings on every page, and has the letters of many languages", async () => {
  const names = ["Ærøskøbing", "Ελλάδα", "Київ", "long ".repeat(400), "漢"];
  const many = Array.from({ length: 200 }, (_, index) => ({ name: names[index] ?? `Row ${index}`, total: index }));
  const { file, unprintable } = await run("generateReport", report("pdf", { title: "Città", rows: many }));
  expect(unprintable).toBe(1);
  const pages = await textOfPages(await read(file.fileId));
  expect(pages.length).toBeGreaterThan(2);
  expect(pages[0]).toContain("Città");
  expect(pages[0]).toContain("Ærøskøbing");
  expect(pages[0]).toContain("Ελλάδα");
  expect(pages[0]).toContain("Київ");
  for (const [index, page] of pages.entries()) {
    expect(page).toContain("Name");
    expect(page.split(" ")).toContain(String(index + 1));
  }
  expect(pages.at(-1)).toContain("Row 199");
});

const ndjson = '{"name":"a","total":1}\n\n{"name":"b\\n"}\n';
const json = '\n[ {"name":"a","total":1},\n  {"name":"b\\n","x":[{"]":"}\\""}]} ]\n';
const csv = 'total,name\r\n1,a\r\n,"b\n"\r\n';

test.each([
  ["an object per line", ndjson],
  ["an array", json],
  ["CSV", csv],
  ["CSV with a byte order mark", `\uFEFF${csv}`],
])("rows come from a file that has %s", async (_, text) => {
  const fileId = await store(text);
  const some = columns.slice(0, 2);
  expect(await csvOf(report("csv", { columns: some, rows: { fileId } }))).toBe(
    '\uFEFFName,Total\r\na,1.00\r\n"b\n",\r\n',
  );
});

test.each([
  ["no JSON in a line", '{"name":"a"}\n{"name":SECRET}', "report_row_malformed", "Row 2, line 2 "],
  ["no object in a line", '{"name":"a"}\n\n["SECRET"]', "report_row_malformed", "Row 2, line 3 "],
  ["an array that ends too early", '[{"name":"SECRET"},\n{"na', "report_row_malformed", "Row 2, line 2 "],
  ["an array with a gap", '[{"name":"SECRET"},\n,{}]', "report_row_malformed", "Row 2, line 2 "],
  ["something after the array", '[{"name":"SECRET"}]\n[]', "report_row_malformed", "line 2 "],
  ["another type in a column", '{"total":1}\n{"total":"SECRET"}', "report_row_malformed", "column 2 is no number"],
  ["a day that no month has", '{"at":"2026-02-30"}', "report_row_malformed", "column 4 is no date"],
  ["a CSV without a column", "name,total\nSECRET,1", "report_column_missing", "column 3"],
  [
    "a CSV row with a field too many",
    "name,total,share,at,isPaid\n,,,,\nSECRET,,,,,",
    "report_row_malformed",
    "line 3 ",
  ],
  ["a CSV with an open quotation mark", 'name,total,share,at,isPaid\n"SECRET,', "report_row_malformed", "line 2 "],
  ["one endless line", `{"name":"${"SECRET".repeat(200_000)}`, "report_row_malformed", "at most 1000000 characters"],
  ["an endless element", `[{"name":"${"SECRET".repeat(200_000)}`, "report_row_malformed", "at most 1000000 characters"],
  ["something else than rows", "%PDF-1.7 SECRET", "report_column_missing", "column 1"],
  ["nothing", "", "input_empty", "empty"],
])("a file with %s is dead at once, by its place and without what it holds", async (_, text, code, place) => {
  const fileId = await store(text);
  const failing = run("generateReport", report("csv", { rows: { fileId } }));
  const error = await failing.catch((reason: Error) => reason);
  expect(error).toMatchObject({ failureKind: "permanent", code, message: expect.stringContaining(place) });
  expect(String(error)).not.toContain("SECRET");
});

test("a report says how far it is, by how much of its rows has been read", async () => {
  const fileId = await store('{"name":"some text that takes its time"}\n'.repeat(10_000));
  const seen: number[] = [];
  const progress = async (percent: number) => void seen.push(percent);
  await run("generateReport", report("csv", { rows: { fileId } }), { progress });
  expect(seen.length).toBeGreaterThan(2);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(seen.at(-1)).toBe(95);
});

test("a report that is called off ends at once and leaves nothing behind", async () => {
  const fileId = await store('{"name":"some text that takes its time"}\n'.repeat(50_000));
  const cancelling = new AbortController();
  let cancelledAt = 0;
  const progress = async () => {
    cancelledAt ||= performance.now();
    cancelling.abort(new Error("called off"));
  };
  const job = run("generateReport", report("pdf", { rows: { fileId } }), { signal: cancelling.signal, progress });
  await expect(job).rejects.toThrow("called off");
  expect(performance.now() - cancelledAt).toBeLessThan(1_000);
});

test("a report that grows larger than the store takes is dead at once", async () => {
  const fileId = await store(`{"name":"${"x".repeat(1_000)}"}\n`.repeat(1_000));
  const failing = run("generateReport", report("csv", { rows: { fileId } }), { settings: { maxOutputBytes: 100_000 } });
  await expect(failing).rejects.toMatchObject({ failureKind: "permanent", code: "report_too_large" });
});

test("keys of an object's own machinery are keys like others", async () => {
  const fileId = await store('{"__proto__":"p"}\n{"name":"n"}');
  const keys = ["__proto__", "constructor"].map((key) => ({ key, heading: key, type: "text" }));
  expect(await csvOf(report("csv", { columns: keys, rows: { fileId } }))).toBe(
    "\uFEFF__proto__,constructor\r\np,\r\n,\r\n",
  );
});

async function textOfPages(pdf: Uint8Array): Promise<string[]> {
  const document = await getDocumentProxy(new Uint8Array(pdf));
  const pages = Array.from({ length: document.numPages }, async (_, index) => {
    const { items } = await (await document.getPage(index + 1)).getTextContent();
    return items.map((item) => ("str" in item ? item.str : "")).join(" ");
  });
  return Promise.all(pages);
}

test.each(["title", "name"])("half a character in the %s is refused on its way in, a whole one is not", (field) => {
  const { data, example } = heavyContract.actions.generateReport;
  expect(data.safeParse({ ...example, [field]: "Orders \ud83d" }).success).toBe(false);
  expect(data.safeParse({ ...example, [field]: "Orders 😀" }).success).toBe(true);
});
