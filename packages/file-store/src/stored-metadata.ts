import { z } from "zod";
import { fileDamaged } from "./file-store-error.ts";

/** What is stored with a file's bytes. Its expiry is part of its id. */
export const storedMetadataSchema = z.object({
  name: z.string(),
  contentType: z.string(),
  bytes: z.int().min(0),
  sha256: z.string(),
});

export type StoredMetadata = z.infer<typeof storedMetadataSchema>;

/** @throws FileStoreError `file_damaged` */
export function parseMetadata(fileId: string, text: string): StoredMetadata {
  try {
    return storedMetadataSchema.parse(JSON.parse(text));
  } catch {
    // Without the cause: a parser's message repeats what it could not read, and that may be the content.
    throw fileDamaged(fileId, "its name, type and size cannot be read");
  }
}
