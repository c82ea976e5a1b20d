import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, lstat, mkdir, open, opendir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { FileDriver } from "./driver.ts";
import { isExpired, isFileId } from "./file-id.ts";
import { FileStoreError, fileDamaged } from "./file-store-error.ts";
import { parseMetadata, type StoredMetadata } from "./stored-metadata.ts";
import { writeMeasured } from "./write-measured.ts";

// A file is its content, then its metadata as JSON, then the length of that JSON (4 bytes) and this mark: one file, so that one rename
// brings all of it, and its beginning is the content for whoever looks at the folder.
const mark = Buffer.from("MLRFILE1");
const footerBytes = 4 + mark.length;
const partEnding = ".part";

/** Files in one folder, for any number of processes of one machine, or of several that share the folder. */
export function createFolderDriver(folder: string): FileDriver {
  const pathOf = (fileId: string) => join(folder, fileId);
  const unavailable = (error: unknown) =>
    new FileStoreError(
      "file_store_unavailable",
      `The folder of the file store cannot be used (${codeOf(error) ?? "unknown error"}). Is there room, and may this process write to the folder of FILE_STORE_URL?`,
      error,
    );
  /** The answer; undefined where there is no such file. */
  const orMissing = <Answer>(answer: Promise<Answer>): Promise<Answer | undefined> =>
    answer.catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw unavailable(error);
    });
  // A link is no file of ours, wherever it leads.
  const openFile = (fileId: string) =>
    orMissing(open(pathOf(fileId), readOnly)).catch((error: FileStoreError) => {
      if (codeOf(error.cause) === "ELOOP") return undefined;
      throw error;
    });

  return {
    write: async (fileId, description, incoming) => {
      const part = join(folder, `${fileId}.${randomUUID()}${partEnding}`);
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(rethrowAs(unavailable));
      const handle = await open(part, "wx", 0o600).catch(rethrowAs(unavailable));
      try {
        const metadata = { ...description, ...(await writeMeasured(handle, incoming, unavailable)) };
        await writeFooter(handle, metadata).catch(rethrowAs(unavailable));
        await handle.close();
        await rename(part, pathOf(fileId)).catch(rethrowAs(unavailable));
        await syncFolder(folder).catch(rethrowAs(unavailable));
        return metadata;
      } catch (error) {
        await handle.close().catch(() => {});
        await rm(part, { force: true }).catch(() => {});
        throw error;
      }
    },

    read: async (fileId) => {
      const handle = await openFile(fileId);
      if (handle === undefined) return undefined;
      try {
        const metadata = await readFooter(fileId, handle).catch(rethrowAs(unavailable));
        // A range that ends before it begins is refused, so that an empty file needs a stream of its own.
        if (metadata.bytes > 0)
          return { metadata, content: handle.createReadStream({ start: 0, end: metadata.bytes - 1 }) };
        await handle.close();
        return { metadata, content: Readable.from([]) };
      } catch (error) {
        await handle.close().catch(() => {});
        throw error;
      }
    },

    readMetadata: async (fileId) => {
      const handle = await openFile(fileId);
      if (handle === undefined) return undefined;
      try {
        return await readFooter(fileId, handle).catch(rethrowAs(unavailable));
      } finally {
        await handle.close();
      }
    },

    has: async (fileId) => (await orMissing(lstat(pathOf(fileId)))) !== undefined,

    remove: async (fileId) => {
      await rm(pathOf(fileId), { force: true }).catch(rethrowAs(unavailable));
    },

    listExpired: async function* (now) {
      for await (const name of namesIn(folder, orMissing)) if (isFileId(name) && isExpired(name, now)) yield name;
    },

    removeLeftovers: async (before) => {
      let removed = 0;
      for await (const name of namesIn(folder, orMissing)) {
        if (!name.endsWith(partEnding)) continue;
        const part = await orMissing(lstat(join(folder, name)));
        if (part === undefined || part.mtimeMs >= before) continue;
        await rm(join(folder, name), { force: true }).catch(rethrowAs(unavailable));
        removed++;
      }
      return removed;
    },

    check: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(rethrowAs(unavailable));
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch(rethrowAs(unavailable));
    },
  };
}

// A link in the folder would lead to a file that nobody stored. Windows has no such flag, and no links without privileges.
const readOnly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

async function writeFooter(handle: FileHandle, metadata: StoredMetadata): Promise<void> {
  const json = Buffer.from(JSON.stringify(metadata));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  await handle.writeFile(Buffer.concat([json, length, mark]));
  // On the disk before it has its name: what a crash leaves under a file's name is whole.
  await handle.sync();
}

async function readFooter(fileId: string, handle: FileHandle): Promise<StoredMetadata> {
  const { size } = await handle.stat();
  const footer = await readRange(handle, size - footerBytes, size);
  if (!footer.subarray(4).equals(mark)) throw fileDamaged(fileId, "it has no end");
  const jsonEnd = size - footerBytes;
  const bytes = jsonEnd - footer.readUInt32BE(0);
  const metadata = parseMetadata(fileId, (await readRange(handle, bytes, jsonEnd)).toString());
  if (metadata.bytes !== bytes) throw fileDamaged(fileId, `it holds ${bytes} bytes instead of ${metadata.bytes}`);
  return metadata;
}

/** The bytes from `start` to before `end`; fewer where the file has fewer. */
async function readRange(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const position = Math.max(start, 0);
  const buffer = Buffer.alloc(Math.max(end - position, 0));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
  return buffer.subarray(0, bytesRead);
}

/** A rename is on the disk only when its folder is. Windows opens no folders, and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* namesIn(
  folder: string,
  orMissing: <Answer>(answer: Promise<Answer>) => Promise<Answer | undefined>,
): AsyncGenerator<string> {
  for await (const { name } of (await orMissing(opendir(folder))) ?? []) yield name;
}

/** For `catch`: the same failure as a sentence; one that is a sentence already stays as it is. */
function rethrowAs(describe: (error: unknown) => Error): (error: unknown) => never {
  return (error) => {
    throw error instanceof FileStoreError ? error : describe(error);
  };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
