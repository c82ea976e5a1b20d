import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { LanguageData } from "./find-languages.ts";
import type { RunTask } from "./task-pool.ts";
import type { HeavyTasks, ImageTasks } from "./tasks.ts";
import { type InWorkFolder, renamed } from "./work-folder.ts";

type RecognizeText = HandlersOf<typeof heavyContract>["recognizeText"];

export interface RecognizeTextParts {
  readonly inWorkFolder: InWorkFolder;
  readonly runTask: RunTask<HeavyTasks>;
  readonly runImageTask: RunTask<ImageTasks>;
  /** @throws PermanentError `language_not_installed` */
  readonly findLanguages: (codes: readonly string[]) => LanguageData[];
  readonly maxPixels: number;
  readonly maxTextBytes: number;
}

/** Reads the text in a picture of text. */
export function createRecognizeText(parts: RecognizeTextParts): RecognizeText {
  const { inWorkFolder, runTask, runImageTask, maxPixels, maxTextBytes } = parts;
  return ({ fileId, languages: codes, name, ttlMs }, context) => {
    const languages = parts.findLanguages(codes);
    return inWorkFolder(context, async (folder) => {
      const { path, file } = await folder.bringIn(fileId);
      const picture = folder.path("picture.png");
      await runImageTask("prepareForReading", { from: path, to: picture, maxPixels }, context);
      const made = folder.path("out");
      const read = await runTask("recognizeText", { from: picture, to: made, languages, maxTextBytes }, context);
      const described = { name: name ?? renamed(file.name, "txt"), contentType: "text/plain; charset=utf-8", ttlMs };
      return { ...read, file: await folder.bringOut(made, described) };
    });
  };
}
