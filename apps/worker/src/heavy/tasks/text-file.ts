import { closeSync, openSync, writeSync } from "node:fs";
import { TaskRefusal } from "./task.ts";

/** Text on its way to a file, so that no thread holds the whole of it. */
export interface TextFile {
  /** @throws TaskRefusal `text_too_large` */
  write(text: string): void;
  /** In Unicode code points. */
  characters(): number;
  close(): void;
}

export function openTextFile(path: string, maxBytes: number): TextFile {
  // A thread has nothing else to do meanwhile.
  const handle = openSync(path, "wx", 0o600);
  let bytes = 0;
  let characters = 0;
  return {
    write: (text) => {
      const chunk = Buffer.from(text);
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new TaskRefusal(
          "text_too_large",
          `Expected at most ${maxBytes} bytes of text (FILE_STORE_MAX_BYTES), the document has more.`,
        );
      for (const _ of text) characters++;
      for (let written = 0; written < chunk.length; ) written += writeSync(handle, chunk, written);
    },
    characters: () => characters,
    close: () => closeSync(handle),
  };
}
