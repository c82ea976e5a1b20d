import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FileDriver } from "./driver.ts";
import { isExpired, isFileId } from "./file-id.ts";
import { FileStoreError, fileDamaged } from "./file-store-error.ts";
import type { SendToS3 } from "./s3-client.ts";
import { parseMetadata, type StoredMetadata } from "./stored-metadata.ts";
import { writeMeasured } from "./write-measured.ts";

// All metadata in one header, whose characters no proxy changes. S3 takes 2 KB of it; a name of 255 characters makes 1.1.
const metadataHeader = "x-amz-meta-file";

/** Files as objects of one bucket, by the S3 protocol. */
export function createS3Driver(send: SendToS3, prefix: string): FileDriver {
  const list = async (startAfter: string, maxKeys: number, signal?: AbortSignal) => {
    const query = {
      "list-type": "2",
      "max-keys": String(maxKeys),
      prefix: `${prefix}file_`,
      "start-after": startAfter,
    };
    const xml = await (await send({ method: "GET", query, signal })).text();
    const keys = [...xml.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = ""]) => key);
    return { keys, isTruncated: xml.includes("<IsTruncated>true</IsTruncated>") };
  };
  const check = async (signal?: AbortSignal) => {
    await list("", 1, signal);
  };
  /** The object's answer. A bucket that is not there answers 404 as well, and must not look like a file that is gone for good. */
  const ask = async (method: "GET" | "HEAD", fileId: string, signal: AbortSignal | undefined) => {
    const response = await send({ method, key: fileId, signal });
    if (response.status !== 404) return response;
    await response.body?.cancel();
    await check(signal);
    return undefined;
  };

  return {
    write: async (fileId, description, incoming) => {
      // The content waits in a file of this machine: S3 wants to know its size and digest first, and so nothing is sent of one too large.
      const spool = await openSpool().catch(noSpool);
      try {
        const metadata = { ...description, ...(await writeMeasured(spool, incoming, noSpool)) };
        const response = await send({
          method: "PUT",
          key: fileId,
          headers: {
            "content-length": String(metadata.bytes),
            // The name and type are its sender's word, and served by the API alone: a bucket that is public serves no page of theirs.
            "content-type": "application/octet-stream",
            "x-amz-content-sha256": metadata.sha256,
            [metadataHeader]: Buffer.from(JSON.stringify(metadata)).toString("base64url"),
          },
          body: spool.createReadStream({ start: 0, autoClose: false }),
          signal: incoming.signal,
        });
        await response.body?.cancel();
        return metadata;
      } finally {
        await spool.close();
      }
    },

    read: async (fileId, signal) => {
      const response = await ask("GET", fileId, signal);
      if (response === undefined) return undefined;
      const metadata = metadataIn(fileId, response);
      // A fetch's body is such a stream; the types of the two worlds know nothing of each other.
      const body = response.body as ReadableStream<Uint8Array> | null;
      return { metadata, content: body ? Readable.fromWeb(body) : Readable.from([]) };
    },

    readMetadata: async (fileId, signal) => {
      const response = await ask("HEAD", fileId, signal);
      return response && metadataIn(fileId, response);
    },

    has: async (fileId, signal) => (await ask("HEAD", fileId, signal)) !== undefined,

    remove: async (fileId, signal) => {
      const response = await send({ method: "DELETE", key: fileId, signal });
      await response.body?.cancel();
    },

    // Keys come in their order, which is that of expiry: the first one that is not over ends the list.
    listExpired: async function* (now, signal) {
      let page = { keys: [""], isTruncated: true };
      while (page.isTruncated && page.keys.length > 0) {
        page = await list(page.keys.at(-1) ?? "", 1_000, signal);
        for (const fileId of page.keys.map((key) => key.slice(prefix.length)).filter(isFileId)) {
          if (!isExpired(fileId, now)) return;
          yield fileId;
        }
      }
    },

    // An upload is one request, which S3 takes whole or not at all, and a spool has no name.
    removeLeftovers: async () => 0,

    check,
  };
}

function metadataIn(fileId: string, response: Response): StoredMetadata {
  const encoded = response.headers.get(metadataHeader) ?? "";
  const metadata = parseMetadata(fileId, Buffer.from(encoded, "base64url").toString());
  const length = response.headers.get("content-length");
  if (length !== null && Number(length) !== metadata.bytes)
    throw fileDamaged(fileId, `it holds ${length} bytes instead of ${metadata.bytes}`);
  return metadata;
}

/** An open file without a name, gone with the process whatever happens to it. */
async function openSpool(): Promise<FileHandle> {
  const path = join(tmpdir(), `millrace-upload-${randomUUID()}`);
  const handle = await open(path, "wx+", 0o600);
  await unlink(path);
  return handle;
}

function noSpool(cause: unknown): never {
  throw new FileStoreError(
    "file_store_unavailable",
    `An upload cannot be kept in ${tmpdir()} on its way. Is there room, and may this process write there?`,
    cause,
  );
}
