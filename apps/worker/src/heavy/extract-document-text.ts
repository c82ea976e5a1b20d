import type { heavyContract } from "@millrace/worker-config/contracts";
import { type HandlersOf, PermanentError } from "@millrace/worker-host";
import type { RunTask, TaskContext } from "./task-pool.ts";
import type { DocumentLimits } from "./tasks/document.ts";
import type { HeavyTasks } from "./tasks.ts";
import { type InWorkFolder, renamed } from "./work-folder.ts";

type ExtractDocumentText = HandlersOf<typeof heavyContract>["extractDocumentText"];

/**
 * Makes a text file of a document.
 *
 * @param maxMs how long the reading of one may take, in milliseconds: `document_too_complex` beyond it, since another attempt takes as long
 */
export function createExtractDocumentText(
  inWorkFolder: InWorkFolder,
  runTask: RunTask<HeavyTasks>,
  limits: DocumentLimits,
  maxMs: number,
): ExtractDocumentText {
  return ({ fileId, name, ttlMs }, context) =>
    inWorkFolder(context, async (folder) => {
      const { path, file } = await folder.bringIn(fileId);
      const made = folder.path("out");
      const found = await withinTime(maxMs, context, (timed) =>
        runTask("extractText", { ...limits, from: path, to: made }, timed),
      );
      const described = { name: name ?? renamed(file.name, "txt"), contentType: "text/plain; charset=utf-8", ttlMs };
      return { ...found, file: await folder.bringOut(made, described) };
    });
}

// A few kilobytes can ask any parser for years of work, and no list of the ways is ever whole.
async function withinTime<Answer>(
  maxMs: number,
  context: TaskContext,
  work: (timed: TaskContext) => Promise<Answer>,
): Promise<Answer> {
  const isOver = AbortSignal.timeout(maxMs);
  const signal = AbortSignal.any([context.signal, isOver]);
  try {
    return await work({ signal, progress: (percent) => context.progress(percent) });
  } catch (error) {
    context.signal.throwIfAborted();
    if (error !== isOver.reason) throw error;
    throw new PermanentError(`Expected a document whose text is found within ${maxMs} ms, this one takes longer.`, {
      code: "document_too_complex",
    });
  }
}
