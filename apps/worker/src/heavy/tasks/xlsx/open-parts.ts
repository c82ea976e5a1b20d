import type { Readable } from "node:stream";
import { type Entry, fromBufferPromise } from "yauzl";

/** Opens one of the files in an archive. A name counts whatever its case is. */
export type OpenPart = (name: string) => Promise<Readable>;

/** @returns a function that throws where there is no such file */
export async function openParts(content: Buffer): Promise<OpenPart> {
  const archive = await fromBufferPromise(content, { autoClose: false });
  const entries = new Map<string, Entry>();
  for await (const entry of archive.eachEntry()) entries.set(entry.fileName.toLowerCase(), entry);
  return async (name) => {
    const entry = entries.get(name.toLowerCase());
    if (!entry) throw new Error("Expected another file in the archive.");
    return archive.openReadStreamPromise(entry);
  };
}
