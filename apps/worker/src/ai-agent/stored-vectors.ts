import { json } from "node:stream/consumers";
import { type FileStore, FileStoreError, type PutOptions } from "@millrace/file-store";
import type { FileReference } from "@millrace/worker-config/contracts";

/** Vectors as they stand where they are few, else the file that they are in. */
export type StoredVectors =
  | { readonly vectors: number[][]; readonly file: null }
  | { readonly vectors: null; readonly file: FileReference };

/** More than this of JSON belongs into a file and not into a record in Redis or PostgreSQL. */
const mostInlineBytes = 32_768;

/** Stores vectors as JSON, `{ "vectors": [[…], …] }`, where they are too many to stand by themselves. */
export async function storeVectors(
  files: Pick<FileStore, "put">,
  vectors: number[][],
  options: Omit<PutOptions, "contentType">,
): Promise<StoredVectors> {
  const content = Buffer.from(JSON.stringify({ vectors }));
  if (content.length <= mostInlineBytes) return { vectors, file: null };
  return { vectors: null, file: await files.put(content, { ...options, contentType: "application/json" }) };
}

/** The vectors; nothing where their file is gone. */
export async function readVectors(
  files: Pick<FileStore, "open">,
  { vectors, file }: StoredVectors,
  signal: AbortSignal,
): Promise<number[][] | undefined> {
  if (vectors) return vectors;
  try {
    const { content } = await files.open(file.fileId, { signal });
    // As `storeVectors` wrote it.
    return ((await json(content)) as { vectors: number[][] }).vectors;
  } catch (error) {
    if (error instanceof FileStoreError && error.code === "file_missing") return undefined;
    throw error;
  }
}
