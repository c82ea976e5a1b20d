import { addAbortSignal, Readable } from "node:stream";
import type { FileReference } from "@millrace/worker-config/contracts";
import { z } from "zod";
import type { FileDriver } from "./driver.ts";
import { expiryOf, isExpired, latestExpiry, newFileId, requireFileId } from "./file-id.ts";
import { FileStoreError, fileMissing } from "./file-store-error.ts";
import { createFolderDriver } from "./folder-driver.ts";
import type { FileStoreLocation } from "./location.ts";
import { createS3Client, type S3Credentials } from "./s3-client.ts";
import { createS3Driver } from "./s3-driver.ts";
import type { StoredMetadata } from "./stored-metadata.ts";

export type FileStoreSettings = {
  /** The largest file, in bytes. Defaults to 50 MiB. */
  readonly maxBytes?: number;
  /** How long a file is kept whose sender does not say, in milliseconds. Defaults to 7 days. */
  readonly ttlMs?: number;
} & (
  | { readonly location: FileStoreLocation & { kind: "folder" } }
  | { readonly location: FileStoreLocation & { kind: "s3" }; readonly credentials: S3Credentials }
);

export const defaultMaxBytes: number = 50 * 1_024 * 1_024;
export const defaultTtlMs: number = 7 * 86_400_000;

export interface PutOptions {
  /** What the sender calls the file: one line of 1 to 255 characters, to be shown and never used as a path. */
  readonly name: string;
  /** Such as `application/pdf`, at most 255 characters. */
  readonly contentType: string;
  /** How long it is kept, in milliseconds from now. Defaults to the store's. */
  readonly ttlMs?: number;
  /** Until when it is kept, instead of `ttlMs`. null: until somebody deletes it. */
  readonly expiresAt?: Date | null;
  /** The id to keep it under, instead of a new one; a file that has it is replaced. The id says until when it is kept. */
  readonly fileId?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface SweepOptions {
  /** In milliseconds since 1970. Defaults to this moment. */
  readonly now?: number;
  /** How many files to remove at most. Defaults to 1,000. */
  readonly limit?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Sweep {
  /** Files that were removed because their time was over. */
  readonly removed: number;
  /** What writers left that died more than an hour ago. */
  readonly leftovers: number;
  /** Whether the limit ended it: there are more. */
  readonly hasMore: boolean;
}

/**
 * Files that jobs refer to. Every function throws FileStoreError: `invalid_file_id` for an id of another form, `file_missing` where there
 * is no file or its time is over, swept or not, `file_store_unavailable` where the store does not answer. An aborted signal rejects with
 * its reason.
 */
export interface FileStore {
  readonly maxBytes: number;
  /**
   * Stores a file, whole or not at all. A Readable that is not taken to its end is destroyed.
   *
   * @throws FileStoreError `file_too_large`, `invalid_file` for a name, type or lifetime of the wrong form; an error of the content
   *   itself as it is
   */
  put(content: Readable | AsyncIterable<Uint8Array> | Uint8Array, options: PutOptions): Promise<FileReference>;
  /** The content must be read to its end or destroyed: it holds a file or a connection open. */
  open(
    fileId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly file: FileReference; readonly content: Readable }>;
  stat(fileId: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<FileReference>;
  /** Resolves with whether there was one. */
  delete(fileId: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<boolean>;
  /** Removes what is over, oldest first on S3. Several at once, in several processes, do no harm. */
  sweepExpired(options?: SweepOptions): Promise<Sweep>;
  /** Resolves while files can be stored and read. */
  check(): Promise<void>;
  /** For a process that closes all it uses. A store holds nothing open between its calls. */
  close(): Promise<void>;
}

const newFileSchema = z.object({
  name: z
    .string()
    .min(1)
    .max(255)
    .regex(/^\P{Cc}+$/u, "expected one line without control characters")
    .refine((name) => name.isWellFormed(), "expected whole Unicode characters"),
  contentType: z
    .string()
    .max(255)
    .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;[\x20-\x7e]*)?$/, "expected a media type such as application/pdf"),
  ttlMs: z.int().min(1).optional(),
  expiresAt: z.date().nullable().optional(),
});

// No upload takes longer without a byte: whoever wrote it is gone.
const leftoverAfterMs = 3_600_000;

/** Opens nothing: a folder is made, and a server asked, at the first use. */
export function createFileStore(settings: FileStoreSettings): FileStore {
  const { maxBytes = defaultMaxBytes, ttlMs: ownTtlMs = defaultTtlMs } = settings;
  const driver = createDriver(settings);
  return {
    maxBytes,
    put: async (content, { signal, fileId: wantedId, ...options }) => {
      if (wantedId !== undefined) requireLive(wantedId);
      signal?.throwIfAborted();
      const { name, contentType, ttlMs, expiresAt } = parseNewFile(options);
      const fileId = wantedId ?? newFileId(expiryFor(expiresAt, ttlMs ?? ownTtlMs));
      const chunks = content instanceof Uint8Array ? once(content) : content;
      try {
        return toReference(fileId, await driver.write(fileId, { name, contentType }, { chunks, maxBytes, signal }));
      } catch (error) {
        if (content instanceof Readable) content.destroy();
        throw error;
      }
    },
    open: async (fileId, { signal } = {}) => {
      requireLive(fileId);
      signal?.throwIfAborted();
      const found = await driver.read(fileId, signal);
      if (!found) throw fileMissing(fileId);
      const { metadata, content } = found;
      return { file: toReference(fileId, metadata), content: signal ? addAbortSignal(signal, content) : content };
    },
    stat: async (fileId, { signal } = {}) => {
      requireLive(fileId);
      signal?.throwIfAborted();
      const metadata = await driver.readMetadata(fileId, signal);
      if (!metadata) throw fileMissing(fileId);
      return toReference(fileId, metadata);
    },
    delete: async (fileId, { signal } = {}) => {
      requireFileId(fileId);
      signal?.throwIfAborted();
      if (isExpired(fileId, Date.now())) return false;
      const wasThere = await driver.has(fileId, signal);
      await driver.remove(fileId, signal);
      return wasThere;
    },
    sweepExpired: async ({ now = Date.now(), limit = 1_000, signal } = {}) => {
      let removed = 0;
      for await (const fileId of driver.listExpired(now, signal)) {
        signal?.throwIfAborted();
        if (removed === limit) return { removed, leftovers: 0, hasMore: true };
        await driver.remove(fileId, signal);
        removed++;
      }
      return { removed, leftovers: await driver.removeLeftovers(Date.now() - leftoverAfterMs), hasMore: false };
    },
    check: () => driver.check(),
    close: async () => {},
  };
}

function createDriver(settings: FileStoreSettings): FileDriver {
  if (!("credentials" in settings)) return createFolderDriver(settings.location.folder);
  const { location, credentials } = settings;
  return createS3Driver(createS3Client(location, credentials), location.prefix);
}

function parseNewFile(options: Omit<PutOptions, "signal">): z.infer<typeof newFileSchema> {
  const parsed = newFileSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  const flaws = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new FileStoreError("invalid_file", `A file cannot be stored like this: ${flaws.join("; ")}.`);
}

/** @returns milliseconds since 1970; null: never */
function expiryFor(expiresAt: Date | null | undefined, ttlMs: number): number | null {
  if (expiresAt === null) return null;
  const expiry = expiresAt?.getTime() ?? Date.now() + ttlMs;
  if (expiry > Date.now() && expiry <= latestExpiry) return expiry;
  throw new FileStoreError("invalid_file", "A file cannot be stored like this: expected an expiry in the future.");
}

function requireLive(fileId: string): void {
  requireFileId(fileId);
  if (isExpired(fileId, Date.now())) throw fileMissing(fileId);
}

function toReference(fileId: string, metadata: StoredMetadata): FileReference {
  const expiry = expiryOf(fileId);
  return { fileId, ...metadata, expiresAt: expiry === null ? null : new Date(expiry).toISOString() };
}

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}
