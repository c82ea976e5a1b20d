/**
 * - `file_missing`: there is no such file, or its time is over.
 * - `file_too_large`: the content is larger than the store takes; nothing of it is kept.
 * - `invalid_file_id`, `invalid_file`: the id, or the name, type or lifetime of a new file, has the wrong form.
 * - `file_damaged`: it is there, but not as it was written.
 * - `file_store_unavailable`: the store did not answer, or refused; the same may work later.
 */
export type FileStoreErrorCode =
  | "file_missing"
  | "file_too_large"
  | "invalid_file_id"
  | "invalid_file"
  | "file_damaged"
  | "file_store_unavailable";

/** Why the store did not do what it was asked. The worker host knows by `failureKind` whether another attempt of a job can help. */
export class FileStoreError extends Error {
  override readonly name = "FileStoreError";
  readonly code: FileStoreErrorCode;
  readonly failureKind: "permanent" | "transient";

  constructor(code: FileStoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.failureKind = code === "file_store_unavailable" ? "transient" : "permanent";
  }
}

export function fileMissing(fileId: string): FileStoreError {
  return new FileStoreError(
    "file_missing",
    `There is no file ${fileId}: it was deleted, its time is over, or it is in another store. Upload it again.`,
  );
}

export function fileDamaged(fileId: string, found: string): FileStoreError {
  return new FileStoreError(
    "file_damaged",
    `File ${fileId} is not as it was written: ${found}. Delete it and upload it again.`,
  );
}
