import { posix } from "node:path";
import type { OpenPart } from "./open-parts.ts";
import { parseXml } from "./parse-xml.ts";

/** What stands beside the sheets of a workbook, and what their cells refer to. */
export interface Workbook {
  /** In the order of their tabs. `part` is the file of its cells. */
  readonly sheets: readonly { readonly name: string; readonly part: string }[];
  readonly strings: readonly string[];
  /** By the number of a cell's style: whether its number is a moment. */
  readonly areMoments: readonly boolean[];
  /** Whether days are counted from 1904, as old Macs did. */
  readonly isFrom1904: boolean;
}

interface Relation {
  readonly type: string;
  readonly part: string;
}

export async function readWorkbook(open: OpenPart): Promise<Workbook> {
  const relations = await readRelations(open);
  const sheets: { name: string; part: string }[] = [];
  let isFrom1904 = false;
  await parseXml(await open("xl/workbook.xml"), {
    open: (element, attribute) => {
      if (element === "workbookPr") isFrom1904 = ["1", "true"].includes(attribute("date1904") ?? "");
      const relation = element === "sheet" ? relations.get(attribute("id") ?? "") : undefined;
      // A sheet may be a chart alone, which has no cells.
      if (relation?.type === "worksheet") sheets.push({ name: attribute("name") ?? "", part: relation.part });
    },
  });
  const partOf = (wanted: string) => [...relations.values()].find(({ type }) => type === wanted)?.part;
  const [strings, styles] = [partOf("sharedStrings"), partOf("styles")];
  return {
    sheets,
    isFrom1904,
    strings: strings === undefined ? [] : await readStrings(open, strings),
    areMoments: styles === undefined ? [] : await readStyles(open, styles),
  };
}

async function readRelations(open: OpenPart): Promise<ReadonlyMap<string, Relation>> {
  const relations = new Map<string, Relation>();
  await parseXml(await open("xl/_rels/workbook.xml.rels"), {
    open: (element, attribute) => {
      if (element !== "Relationship") return;
      const type = posix.basename(attribute("Type") ?? "");
      // From the folder of the workbook, or from the root of the archive.
      const part = posix.resolve("/xl", attribute("Target") ?? "").slice(1);
      relations.set(attribute("Id") ?? "", { type, part });
    },
  });
  return relations;
}

async function readStrings(open: OpenPart, part: string): Promise<string[]> {
  const strings: string[] = [];
  const item = createTextItem();
  await parseXml(await open(part), {
    open: (element) => {
      if (element === "si") item.begin();
      else item.open(element);
    },
    text: item.text,
    close: (element) => {
      if (element === "si") strings.push(item.value());
      else item.close(element);
    },
  });
  return strings;
}

/** The text of an item, of one run or several. How it is pronounced stands beside it, and is none of it. */
export function createTextItem() {
  let value = "";
  let isText = false;
  let isPronunciation = false;
  return {
    begin: () => {
      value = "";
    },
    open: (element: string) => {
      if (element === "t") isText = true;
      if (element === "rPh") isPronunciation = true;
    },
    text: (text: string) => {
      if (isText && !isPronunciation) value += text;
    },
    close: (element: string) => {
      if (element === "t") isText = false;
      if (element === "rPh") isPronunciation = false;
    },
    value: () => decodeEscapes(value),
  };
}

/** Signs that XML does not know are written as _x000D_. */
export function decodeEscapes(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

async function readStyles(open: OpenPart, part: string): Promise<boolean[]> {
  const momentFormats = new Set(builtInMoments);
  const areMoments: boolean[] = [];
  let isInCells = false;
  await parseXml(await open(part), {
    open: (element, attribute) => {
      const format = Number(attribute("numFmtId"));
      if (element === "numFmt" && isMomentFormat(attribute("formatCode") ?? "")) momentFormats.add(format);
      else if (element === "cellXfs") isInCells = true;
      else if (element === "xf" && isInCells) areMoments.push(momentFormats.has(format));
    },
    close: (element) => {
      if (element === "cellXfs") isInCells = false;
    },
  });
  return areMoments;
}

/** ISO 29500-1, 18.8.30: days and times, also those that depend on a language. */
const builtInMoments: readonly number[] = [
  ...[14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47],
  ...[27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58],
];

/** Whether a format has a year, month, day, hour, minute or second outside of what it shows as it stands. */
function isMomentFormat(code: string): boolean {
  const bare = code.replace(/"[^"]*"|\[(?!h+\]|m+\]|s+\])[^\]]*\]|[\\_*]./gi, "");
  return /[ymdhs]/i.test(bare);
}
