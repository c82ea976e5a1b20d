import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fromBufferPromise } from "yauzl";
import { TaskRefusal } from "./task.ts";

// A workbook of a hundred sheets with pictures has some hundreds.
const mostEntries = 5_000;

/**
 * The names of what is in an archive, once all of it has been unpacked into nothing: the libraries unpack whatever they are given, and
 * what an entry says of its own size is what somebody claims.
 *
 * @throws TaskRefusal `archive_too_large`, `file_encrypted`, `file_damaged`
 */
export async function checkArchive(content: Buffer, maxInflatedBytes: number): Promise<ReadonlySet<string>> {
  try {
    // An entry that unpacks to another size than it claims is an error.
    const archive = await fromBufferPromise(content, { validateEntrySizes: true });
    if (archive.entryCount > mostEntries)
      throw tooLarge(`${mostEntries} entries, this archive has ${archive.entryCount}`);
    const names = new Set<string>();
    let bytes = 0;
    for await (const entry of archive.eachEntry()) {
      if (entry.isEncrypted())
        throw new TaskRefusal("file_encrypted", "Expected a document without a password, this one is encrypted.");
      bytes += entry.uncompressedSize;
      if (bytes > maxInflatedBytes) throw tooLarge(`${maxInflatedBytes} bytes unpacked (HEAVY_MAX_INFLATED_BYTES)`);
      await pipeline(await archive.openReadStreamPromise(entry), nowhere());
      names.add(entry.fileName);
    }
    return names;
  } catch (error) {
    if (error instanceof TaskRefusal) throw error;
    throw new TaskRefusal(
      "file_damaged",
      "Expected a whole docx or xlsx document, its archive is damaged or was cut off.",
    );
  }
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

function tooLarge(expected: string): TaskRefusal {
  return new TaskRefusal("archive_too_large", `Expected a document of at most ${expected}.`);
}
