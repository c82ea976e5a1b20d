import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { RunTask } from "./task-pool.ts";
import type { HeavyTasks } from "./tasks.ts";
import type { InWorkFolder } from "./work-folder.ts";

type GenerateReport = HandlersOf<typeof heavyContract>["generateReport"];

const contentTypes = {
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  csv: "text/csv; charset=utf-8",
  pdf: "application/pdf",
};

/**
 * Makes a spreadsheet, a CSV or a PDF of rows.
 *
 * @param maxBytes of the report
 */
export function createGenerateReport(
  inWorkFolder: InWorkFolder,
  runTask: RunTask<HeavyTasks>,
  maxBytes: number,
): GenerateReport {
  return ({ format, title, columns, rows, page, name = `${title}.${format}`, ttlMs }, context) =>
    inWorkFolder(context, async (folder) => {
      const given = Array.isArray(rows)
        ? rows
        : { path: (await folder.bringIn(rows.fileId)).path, ...(rows.format && { format: rows.format }) };
      const made = folder.path("out");
      const report = { format, title, columns, page, rows: given, to: made, maxBytes };
      const written = await runTask("generateReport", report, context);
      return { ...written, file: await folder.bringOut(made, { name, contentType: contentTypes[format], ttlMs }) };
    });
}
