import { randomBytes } from "node:crypto";
import { fileIdSchema } from "@millrace/worker-config/contracts";
import { FileStoreError } from "./file-store-error.ts";

// A file that stays has the last moment that fits: the year 10889.
const never = 2 ** 48 - 1;

/** The latest expiry that an id can hold, in milliseconds since 1970. */
export const latestExpiry: number = never - 1;

/**
 * A UUID of version 8 (RFC 9562), whose first 48 bits are the moment of expiry, as those of version 7 are the moment of birth. So an
 * expired id is known without a question to the store, and a listing in the order of names is one in the order of expiry. The other 74
 * bits are random.
 *
 * @param expiresAt in milliseconds since 1970; null: never
 */
export function newFileId(expiresAt: number | null): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(expiresAt ?? never, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return `file_${bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}`;
}

/** When the file of a valid id expires, in milliseconds since 1970; null: never. */
export function expiryOf(fileId: string): number | null {
  const expiresAt = Number.parseInt(fileId.slice("file_".length, "file_".length + 13).replace("-", ""), 16);
  return expiresAt === never ? null : expiresAt;
}

export function isExpired(fileId: string, now: number): boolean {
  const expiresAt = expiryOf(fileId);
  return expiresAt !== null && expiresAt <= now;
}

export function isFileId(text: string): boolean {
  return fileIdSchema.safeParse(text).success;
}

/**
 * The one door for ids that came from outside: what passes holds hexadecimal digits and dashes alone, and may be part of a path.
 *
 * @throws FileStoreError `invalid_file_id`
 */
export function requireFileId(fileId: string): void {
  if (isFileId(fileId)) return;
  throw new FileStoreError(
    "invalid_file_id",
    `Expected the id of a stored file, file_ and a UUID, got ${JSON.stringify(String(fileId).slice(0, 60))}.`,
  );
}
