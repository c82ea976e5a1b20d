import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Incoming } from "./driver.ts";
import { FileStoreError } from "./file-store-error.ts";

/**
 * Writes the content to an open file and measures it on the way.
 *
 * @param onWriteError what a failed write means; an error of the content itself is passed on as it is
 * @throws FileStoreError `file_too_large`, once more than `maxBytes` have come; `invalid_file` when something else than bytes comes
 */
export async function writeMeasured(
  handle: FileHandle,
  { chunks, maxBytes, signal }: Incoming,
  onWriteError: (error: unknown) => Error,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of untilAborted(chunks, signal)) {
    if (!(chunk instanceof Uint8Array))
      throw new FileStoreError("invalid_file", `Expected content in chunks of bytes, got one of type ${typeof chunk}.`);
    bytes += chunk.byteLength;
    if (bytes > maxBytes)
      throw new FileStoreError(
        "file_too_large",
        `Expected a file of at most ${maxBytes} bytes (FILE_STORE_MAX_BYTES), got more. Nothing of it was kept.`,
      );
    hash.update(chunk);
    await handle.writeFile(chunk).catch((error: unknown) => {
      throw onWriteError(error);
    });
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** The chunks, and the signal's reason as soon as it aborts: also while the next chunk does not come. */
async function* untilAborted(chunks: AsyncIterable<unknown>, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
  const iterator = chunks[Symbol.asyncIterator]();
  let giveUp: (reason: unknown) => void = () => {};
  const onAbort = () => giveUp(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  let isOver = false;
  try {
    while (!isOver) {
      signal?.throwIfAborted();
      // Not a race with one promise for all chunks: that would remember every chunk's until the last.
      const next = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
        giveUp = reject;
        iterator.next().then(resolve, reject);
      });
      isOver = next.done === true;
      if (!isOver) yield next.value;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    // Not awaited: a source that does not give its next chunk does not end either.
    if (!isOver) iterator.return?.().catch(() => {});
  }
}
