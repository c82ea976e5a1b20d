import { z } from "zod";
import { fileIdSchema } from "./file-id.ts";
import { fileReferenceSchema } from "./file-reference.ts";
import { belonging, longWork, oneLine, output } from "./heavy-action.ts";

const column = {
  /** Under which a row holds it. */
  key: z.string().min(1).max(200),
  heading: oneLine.max(200),
  /** In characters. Defaults to 24 for a text, 12 for the others. */
  width: z.int().min(1).max(100).optional(),
};

/**
 * A column and how its values are shown. The formats are spreadsheet codes, so that a spreadsheet shows what the other kinds of report hold;
 * nothing depends on a language or a country.
 */
export const reportColumnSchema = z.discriminatedUnion("type", [
  z.object({ ...column, type: z.literal("text") }),
  z.object({
    ...column,
    type: z.literal("number"),
    /** Such as `0`, `0.00` or `0.0%`. Defaults to the number as it is. */
    format: z
      .string()
      .regex(/^0(\.0{1,10})?%?$/, "expected 0, 0.00 and the like, with % for a share")
      .optional(),
  }),
  z.object({
    ...column,
    type: z.literal("date"),
    /** Of a moment with a time, which is shown in UTC. Defaults to the day alone. */
    format: z.enum(["yyyy-mm-dd", "yyyy-mm-dd hh:mm", "yyyy-mm-dd hh:mm:ss"]).default("yyyy-mm-dd"),
  }),
  z.object({ ...column, type: z.literal("boolean") }),
]);

export type ReportColumn = z.output<typeof reportColumnSchema>;

const inlineRow = z.record(
  z.string().min(1).max(200),
  z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()]),
);

/** A few rows in the job itself, or many in a stored file: an object per line, an array of objects, or CSV with a line of keys. */
const rows = z.union([
  z.array(inlineRow).max(1_000),
  z.object({
    fileId: fileIdSchema,
    /** Defaults to what the file begins with: `[` json, `{` ndjson, anything else csv. */
    format: z.enum(["ndjson", "json", "csv"]).optional(),
  }),
]);

const mostPdfColumns = 20;

export const generateReport = {
  ...longWork,
  data: z
    .object({
      format: z.enum(["xlsx", "csv", "pdf"]),
      title: oneLine.max(200),
      columns: z.array(reportColumnSchema).min(1).max(200),
      rows,
      /** Of a pdf. */
      page: z
        .object({ size: z.enum(["a4", "letter"]).default("a4"), isLandscape: z.boolean().default(false) })
        .prefault({}),
      ...output,
      ...belonging,
    })
    .refine(({ format, columns }) => format !== "pdf" || columns.length <= mostPdfColumns, {
      path: ["columns"],
      message: `expected at most ${mostPdfColumns} columns in a pdf: more are not to be read on a page`,
    }),
  result: z.object({
    file: fileReferenceSchema,
    rows: z.int(),
    /** Characters that the font of a pdf has no shape for: they are printed as empty boxes. */
    unprintable: z.int(),
  }),
  example: {
    format: "xlsx" as const,
    title: "Orders of November",
    columns: [
      { key: "customer", heading: "Customer", type: "text" as const },
      { key: "orderedAt", heading: "Ordered", type: "date" as const },
      { key: "total", heading: "Total", type: "number" as const, format: "0.00" },
      { key: "isPaid", heading: "Paid", type: "boolean" as const },
    ],
    rows: [
      { customer: "Ada", orderedAt: "2026-11-02", total: 42.5, isPaid: true },
      { customer: "Grace", orderedAt: "2026-11-17", total: 7, isPaid: false },
    ],
  },
};
