import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { RunTask } from "./task-pool.ts";
import type { DocumentLimits } from "./tasks/document.ts";
import type { HeavyTasks } from "./tasks.ts";
import { type InWorkFolder, renamed } from "./work-folder.ts";

type ExtractDocumentText = HandlersOf<typeof heavyContract>["extractDocumentText"];

/** Makes a text file of a document. */
export function createExtractDocumentText(
  inWorkFolder: InWorkFolder,
  runTask: RunTask<HeavyTasks>,
  limits: DocumentLimits,
): ExtractDocumentText {
  return ({ fileId, name, ttlMs }, context) =>
    inWorkFolder(context, async (folder) => {
      const { path, file } = await folder.bringIn(fileId);
      const made = folder.path("out");
      const found = await runTask("extractText", { ...limits, from: path, to: made }, context);
      const described = { name: name ?? renamed(file.name, "txt"), contentType: "text/plain; charset=utf-8", ttlMs };
      return { ...found, file: await folder.bringOut(made, described) };
    });
}
