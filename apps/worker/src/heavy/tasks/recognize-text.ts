import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createWorker, OEM } from "tesseract.js";
import { isMachineFault } from "./machine-fault.ts";
import { type Task, TaskRefusal } from "./task.ts";
import { openTextFile } from "./text-file.ts";

export interface RecognizeTextInput {
  /** A PNG, alone in a folder of the job's own. */
  readonly from: string;
  readonly to: string;
  readonly languages: readonly { readonly code: string; readonly path: string }[];
  readonly maxTextBytes: number;
}

export interface RecognizedText {
  readonly characters: number;
  /** 0 to 100. */
  readonly confidence: number;
}

/** Refuses with `recognition_failed`, `text_too_large`. Everything comes from the disk: nothing is downloaded. */
export const recognizeText: Task<RecognizeTextInput, RecognizedText> = async (input, { progress }) => {
  const folder = dirname(input.from);
  for (const { code, path } of input.languages) {
    const data = await readFile(path);
    await writeFile(join(folder, `${code}.traineddata`), path.endsWith(".gz") ? gunzipSync(data) : data);
  }
  const reader = await createWorker(
    input.languages.map(({ code }) => code),
    OEM.LSTM_ONLY,
    {
      langPath: folder,
      gzip: false,
      cacheMethod: "none",
      logger: ({ status, progress: part }) => progress(status === "recognizing text" ? 20 + part * 75 : 10),
      // What it says reaches whoever waits as well; without this it is thrown where nobody catches it.
      errorHandler: () => {},
    },
  ).catch(refuse);
  try {
    const { data } = await reader.recognize(input.from).catch(refuse);
    const text = openTextFile(input.to, input.maxTextBytes);
    try {
      text.write(data.text);
      return { characters: text.characters(), confidence: data.confidence };
    } finally {
      text.close();
    }
  } finally {
    await reader.terminate();
  }
};

function refuse(error: unknown): never {
  if (isMachineFault(error)) throw error;
  throw new TaskRefusal("recognition_failed", "Expected an image that text can be looked for in, this one fails.");
}
