import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { expect, test, vi } from "vitest";
import { generateReport } from "../generate-report.ts";
import type { ReportLayout } from "./report-writer.ts";
import { createCsvWriter } from "./write-csv.ts";
import { createPdfWriter } from "./write-pdf.ts";
import { createXlsxWriter } from "./write-xlsx.ts";

const layout: ReportLayout = {
  title: "Slow",
  columns: [{ key: "text", heading: "Text", type: "text" }],
  page: { size: "a4", isLandscape: false },
};
const writers = [
  ["csv", createCsvWriter],
  ["xlsx", createXlsxWriter],
  ["pdf", createPdfWriter],
] as const;

test.each(writers)("%s: rows wait for an output that is slow, instead of in memory", async (_, create) => {
  const most = 20_000;
  let goOn = () => {};
  let isOpen = false;
  const output = new Writable({
    // Full soon, so that few rows are enough.
    highWaterMark: 1_024,
    write: (_chunk, _encoding, done) => {
      goOn = done;
      if (isOpen) done();
    },
  });
  const ended = finished(output);
  const writer = create(output, layout);
  let added = 0;
  const adding = (async () => {
    for (; added < most && !isOpen; added++)
      await writer.add([randomBytes(300).toString("base64")], { row: added + 1 });
  })();
  let before = -1;
  await vi.waitFor(
    () => {
      const stopped = added > 0 && added === before;
      before = added;
      expect(stopped).toBe(true);
    },
    { interval: 300, timeout: 20_000 },
  );
  expect(added).toBeLessThan(most);
  isOpen = true;
  goOn();
  await adding;
  await writer.finish();
  await ended;
});

test.each(["csv", "xlsx", "pdf"] as const)("%s: a disk that fails ends the report", async (format) => {
  const rows = Array.from({ length: 1_000 }, (_, index) => ({ text: `Row ${index}` }));
  const input = { ...layout, format, rows, to: join(tmpdir(), "millrace-nowhere", "report"), maxBytes: 1_000_000 };
  await expect(generateReport(input, { progress: () => {} })).rejects.toMatchObject({ code: "ENOENT" });
});

test.each([
  ["xlsx", createXlsxWriter],
  ["pdf", createPdfWriter],
] as const)("%s: a row more than it holds is refused with the limit", async (_, create) => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const writer = create(output, layout, 2);
  for (const row of [1, 2]) await writer.add(["x"], { row });
  await expect(writer.add(["x"], { row: 3 })).rejects.toMatchObject({
    code: "report_too_large",
    message: expect.stringContaining("more than 2 rows"),
  });
  await writer.finish();
});
