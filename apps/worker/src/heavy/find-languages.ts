import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { StartError } from "@millrace/env";
import { PermanentError } from "@millrace/worker-host";

/** A language's data on this machine. */
export interface LanguageData {
  readonly code: string;
  readonly path: string;
}

const ending = /\.traineddata(\.gz)?$/;

/**
 * Looks the data of languages up: `<code>.traineddata` or `<code>.traineddata.gz`.
 *
 * @param folder where it is. Defaults to what the package `@tesseract.js-data/eng` brings: English
 * @throws PermanentError `language_not_installed`
 * @throws StartError where the folder cannot be read; also when asked for no language
 */
export function findLanguages(codes: readonly string[], folder: string = englishFolder()): LanguageData[] {
  const installed = listFolder(folder).filter((name) => ending.test(name));
  return codes.map((code) => {
    const name = installed.find((file) => file.replace(ending, "") === code);
    if (name !== undefined) return { code, path: join(folder, name) };
    const there = installed.map((file) => file.replace(ending, "")).join(", ");
    throw new PermanentError(
      `Expected data for the language ${code}, this worker has ${there || "none"}. Put ${code}.traineddata into the folder of HEAVY_OCR_DATA_FOLDER.`,
      { code: "language_not_installed" },
    );
  });
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause;
    throw new StartError(
      `Expected a folder with the data of languages (HEAVY_OCR_DATA_FOLDER), ${folder} cannot be read: ${why}. Correct it, or unset it for English alone.`,
      { cause },
    );
  }
}

function englishFolder(): string {
  const manifest = createRequire(import.meta.url).resolve("@tesseract.js-data/eng/package.json");
  return join(dirname(manifest), "4.0.0_best_int");
}
