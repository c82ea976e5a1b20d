import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { StartError } from "@millrace/env";
import type { FileStore } from "@millrace/file-store";
import type { FileReference } from "@millrace/worker-config/contracts";
import { type JobContext, PermanentError } from "@millrace/worker-host";
import { explainFullFolder } from "./temp-folder-full.ts";

/** Where one job has its files while it runs. */
export interface WorkFolder {
  /** The path of a file that does not exist yet. */
  path(name: string): string;
  /**
   * Brings a stored file here.
   *
   * @throws PermanentError `input_too_large`, before a byte of it is read; `input_empty`
   * @throws FileStoreError as `FileStore.open`
   */
  bringIn(fileId: string): Promise<{ readonly path: string; readonly file: FileReference }>;
  /**
   * Stores a file of this folder.
   *
   * @param made.ttlMs how long it is kept, in milliseconds. Defaults to the store's
   * @throws FileStoreError as `FileStore.put`
   */
  bringOut(
    path: string,
    made: { readonly name: string; readonly contentType: string; readonly ttlMs?: number | undefined },
  ): Promise<FileReference>;
}

/**
 * Runs `work` with a folder that is gone afterwards, however it ends.
 *
 * @throws TransientError `temp_folder_full`, whoever found that there is no room
 */
export type InWorkFolder = <Result>(
  context: Pick<JobContext, "signal">,
  work: (folder: WorkFolder) => Promise<Result>,
) => Promise<Result>;

export interface WorkFolderSettings {
  readonly files: Pick<FileStore, "open" | "stat" | "put">;
  /** The folder in which each job has its own. */
  readonly parent: string;
  readonly maxInputBytes: number;
}

const prefix = "millrace-heavy-";
// Longer than any attempt may take.
const leftoverAfterMs = 24 * 60 * 60_000;

export function createInWorkFolder({ files, parent, maxInputBytes }: WorkFolderSettings): InWorkFolder {
  return async ({ signal }, work) => {
    signal.throwIfAborted();
    // A name of its own and mode 0700: nobody else of this machine reads it.
    const folder = await mkdtemp(join(parent, prefix)).catch((error: unknown) => {
      throw explainFullFolder(error);
    });
    const path = (name: string) => join(folder, name);
    try {
      return await work({
        path,
        bringIn: async (fileId) => {
          checkSize(await files.stat(fileId, { signal }), maxInputBytes);
          const { file, content } = await files.open(fileId, { signal });
          const target = path(`in-${fileId}`);
          await pipeline(content, createWriteStream(target, { flags: "wx", mode: 0o600 }), { signal });
          return { path: target, file };
        },
        bringOut: (source, { name, contentType, ttlMs }) =>
          files.put(createReadStream(source), { name, contentType, ...(ttlMs !== undefined && { ttlMs }), signal }),
      });
    } catch (error) {
      throw explainFullFolder(error);
    } finally {
      // A thread that is being ended may write one more file meanwhile: then it is tried again.
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    }
  };
}

function checkSize({ fileId, bytes }: FileReference, maxBytes: number): void {
  if (bytes === 0)
    throw new PermanentError(`Expected a file with content, ${fileId} is empty.`, { code: "input_empty" });
  if (bytes <= maxBytes) return;
  throw new PermanentError(
    `Expected a file of at most ${maxBytes} bytes (HEAVY_MAX_INPUT_BYTES), ${fileId} has ${bytes}.`,
    { code: "input_too_large" },
  );
}

/**
 * Removes the folders of processes that were killed a day ago or earlier.
 *
 * @throws StartError where `parent` cannot be read
 */
export async function removeLeftovers(parent: string, now: number = Date.now()): Promise<void> {
  const names = await readdir(parent).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : cause;
    throw new StartError(`Expected a folder for files of jobs under way (HEAVY_TEMP_FOLDER), got: ${why}.`, { cause });
  });
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(parent, name);
    // Another process may have been faster, or the folder may be another user's.
    const found = await stat(folder).catch(() => undefined);
    if (found && found.mtimeMs < now - leftoverAfterMs)
      await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** The name with another ending: `photo.JPG` → `photo.webp`. */
export function renamed(name: string, ending: string): string {
  const stem = name.replace(/\.[^.]{1,10}$/, "") || name;
  // Code units, as the store counts; of a character that would be cut in two nothing stays.
  const start = stem.slice(0, 254 - ending.length).replace(/[\ud800-\udbff]$/, "");
  return `${start}.${ending}`;
}
