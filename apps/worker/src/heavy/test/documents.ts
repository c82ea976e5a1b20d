import { constants, deflateRawSync } from "node:zlib";
import ExcelJS from "exceljs";
import { strFromU8, strToU8, unzipSync, type Zippable, zipSync } from "fflate";

/** A whole PDF: a page per text, and what else stands in its trailer. `pack` makes the stream of a page's content. */
export function pdf(pages: readonly string[], trailer = "", pack: (content: string) => string = stream): Buffer {
  const kids = pages.map((_, page) => `${4 + 2 * page} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, page) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * page} 0 R >>`,
      pack(`BT /F1 12 Tf 10 50 Td (${text}) Tj ET`),
    ]),
  ];
  return pdfOf(objects, trailer);
}

/** A PDF of these objects, numbered from 1; the first one is its catalogue. */
function pdfOf(objects: readonly string[], trailer = ""): Buffer {
  let body = "%PDF-1.7\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  return Buffer.from(
    `${body}xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${body.length}\n%%EOF\n`,
    "latin1",
  );
}

function stream(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

/** One whose page unpacks to so many million bytes. */
export function pdfBomb(millions: number): Buffer {
  // Each part stands for itself, so that one of them is packed and repeated. Nobody looks at the sum at the end, which is missing.
  const part = (text: string) => deflateRawSync(text, { finishFlush: constants.Z_FULL_FLUSH }).toString("latin1");
  return pdf(["x"], "", (content) => {
    const spaces = part(" ".repeat(1_000_000)).repeat(millions);
    const packed = `\x78\x01${part(content)}${spaces}${deflateRawSync("").toString("latin1")}`;
    return `<< /Filter /FlateDecode /Length ${packed.length} >>\nstream\n${packed}\nendstream`;
  });
}

/** One that asks for a password: no empty one fits these. */
export function encryptedPdf(): Buffer {
  const key = "41".repeat(32);
  return pdf(
    ["secret"],
    `/ID [<${key.slice(0, 32)}> <${key.slice(0, 32)}>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${key}> /U <${key}> >>`,
  );
}

/** Ten drawings, each of which draws the next one ten times: as many as ten billion. */
export function nestedPdf(): Buffer {
  const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
  const forms = Array.from({ length: 10 }, (_, at) => {
    const resources = at === 9 ? `/Font << /T ${font} >>` : `/XObject << /F ${at + 5} 0 R >>`;
    // Without a text in it, a reader skips the second of two.
    const content = at === 9 ? "BT /T 1 Tf (x) Tj ET" : "/F Do ".repeat(10);
    return `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${resources} >> /Length ${content.length} >>\nstream\n${content}\nendstream`;
  });
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /XObject << /F 4 0 R >> >> /Contents 14 0 R >>",
    ...forms,
    stream("/F Do"),
  ]);
}

export function docx(paragraphs: readonly string[], more: Zippable = {}): Buffer {
  const namespace = "http://schemas.openxmlformats.org";
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join("");
  const files = {
    "[Content_Types].xml": `<Types xmlns="${namespace}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${namespace}/package/2006/relationships"><Relationship Id="r1" Type="${namespace}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/document.xml": `<w:document xmlns:w="${namespace}/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  };
  const parts = Object.entries(files).map(([name, text]) => [name, strToU8(text)] as const);
  return Buffer.from(zipSync({ ...Object.fromEntries(parts), ...more }));
}

export async function xlsx(sheets: Record<string, unknown[][]>): Promise<Buffer> {
  const workbook = new ExcelJS.Workbook();
  for (const [name, rows] of Object.entries(sheets)) workbook.addWorksheet(name).addRows(rows);
  return Buffer.from(await workbook.xlsx.writeBuffer());
}

/** A workbook of one sheet of this XML, its cells and what stands after them, with a filter over all of it. */
export async function xlsxOf(sheetData: string, after = ""): Promise<Buffer> {
  const files = unzipSync(await xlsx({ Guests: [["Ada"]] }));
  const names = `<definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0">Guests!$A$1:$XFD$1048576</definedName></definedNames>`;
  const book = strFromU8(files["xl/workbook.xml"] ?? new Uint8Array()).replace("</sheets>", `</sheets>${names}`);
  const sheet = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${sheetData}</sheetData>${after}</worksheet>`;
  return Buffer.from(
    zipSync({ ...files, "xl/workbook.xml": strToU8(book), "xl/worksheets/sheet1.xml": strToU8(sheet) }),
  );
}

/** The same workbook as some programs write it: with a prefix before the names of all elements. */
export function prefixed(workbook: Buffer): Buffer {
  const files = Object.entries(unzipSync(workbook)).map(([name, content]) => {
    if (!/^xl\/.*\.xml$/.test(name)) return [name, content] as const;
    const xml = strFromU8(content)
      .replace(/<(\/?)(?=\w+[\s/>])/g, "<$1x:")
      .replace(' xmlns="', ' xmlns:x="');
    return [name, strToU8(xml)] as const;
  });
  return Buffer.from(zipSync(Object.fromEntries(files)));
}

/** The same archive, in which the named entry claims to unpack to another size. */
export function claimingSize(archive: Buffer, name: string, bytes: number): Buffer {
  const changed = Buffer.from(archive);
  const central = Buffer.from([0x50, 0x4b, 0x01, 0x02]);
  for (let at = changed.indexOf(central); at !== -1; at = changed.indexOf(central, at + 4)) {
    const nameBytes = changed.readUInt16LE(at + 28);
    if (changed.toString("latin1", at + 46, at + 46 + nameBytes) === name) changed.writeUInt32LE(bytes, at + 24);
  }
  return changed;
}
