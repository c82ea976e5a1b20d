import type { Readable } from "node:stream";
import type { StoredMetadata } from "./stored-metadata.ts";

/** The file as its sender describes it. */
export type FileDescription = Pick<StoredMetadata, "name" | "contentType">;

/** Content on its way in, and how much of it there may be. */
export interface Incoming {
  readonly chunks: AsyncIterable<unknown>;
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Where files are. Every id has been checked before it comes here. What cannot be reached is a FileStoreError
 * `file_store_unavailable`; an aborted signal rejects with its reason.
 */
export interface FileDriver {
  /** Keeps the whole content under the id, or nothing of it. */
  write(fileId: string, description: FileDescription, incoming: Incoming): Promise<StoredMetadata>;
  read(
    fileId: string,
    signal: AbortSignal | undefined,
  ): Promise<{ metadata: StoredMetadata; content: Readable } | undefined>;
  readMetadata(fileId: string, signal: AbortSignal | undefined): Promise<StoredMetadata | undefined>;
  /** Whether there is one, damaged or not. */
  has(fileId: string, signal: AbortSignal | undefined): Promise<boolean>;
  /** Does nothing where there is none. */
  remove(fileId: string, signal: AbortSignal | undefined): Promise<void>;
  /** The ids whose time is over. */
  listExpired(now: number, signal: AbortSignal | undefined): AsyncIterable<string>;
  /** Removes what writers left that died before `before`, and says how many. */
  removeLeftovers(before: number): Promise<number>;
  /** Resolves while files can be written and read. */
  check(): Promise<void>;
}
