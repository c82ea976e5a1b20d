import { TransientError } from "@millrace/worker-host";

// An error that came out of a thread or a process has its message alone, and a native library's never had a code.
const fullDisk = /\b(?:ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded/;

/** Whether a message, or what a program complained of, says so. */
export function isFolderFull(message: string): boolean {
  return fullDisk.test(message);
}

/** The error for `HEAVY_TEMP_FOLDER is full` where that is what was thrown, else what was thrown. What says by itself what it means stays. */
export function explainFullFolder(error: unknown): unknown {
  if (!Error.isError(error) || "failureKind" in error || !isFolderFull(error.message)) return error;
  return tempFolderFull(error);
}

export function tempFolderFull(cause?: unknown): TransientError {
  return new TransientError("HEAVY_TEMP_FOLDER is full: give it room for the largest input and its output, twice.", {
    code: "temp_folder_full",
    cause,
  });
}
