import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { createFileStore, readFileStoreSettings } from "@millrace/file-store";
import { exampleDocumentFileId, exampleImageFileId, exampleSoundFileId } from "@millrace/worker-config/contracts";

const exampleFiles = [
  { fileId: exampleImageFileId, path: "dev-files/millrace.png", contentType: "image/png" },
  { fileId: exampleDocumentFileId, path: "dev-files/invitation.pdf", contentType: "application/pdf" },
  { fileId: exampleSoundFileId, path: "dev-files/bell.mp3", contentType: "audio/mpeg" },
];

/** Stores the files that the examples work on. Once more changes nothing. */
export async function seedFiles(fileStoreUrl: string): Promise<void> {
  const files = createFileStore(readFileStoreSettings({ FILE_STORE_URL: fileStoreUrl }));
  for (const { fileId, path, contentType } of exampleFiles) {
    const content = await readFile(new URL(path, import.meta.url));
    await files.put(content, { fileId, name: basename(path), contentType });
  }
}
