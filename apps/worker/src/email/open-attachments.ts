import type { Readable } from "node:stream";
import { PermanentError, TransientError } from "@millrace/worker-host";
import type { MailAttachment } from "./mailer.ts";

/** A file of the store, opened: its content is read to the end or destroyed. */
export interface OpenedFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly content: Readable;
}

/** Opens a file of the store. Its error says by `failureKind` whether the file is gone (`permanent`) or the store is. */
export type OpenAttachment = (fileId: string, signal: AbortSignal) => Promise<OpenedFile>;

/** What is about to be sent along, and what becomes of it. */
export interface Attachments extends AsyncDisposable {
  readonly files: readonly MailAttachment[];
  /** Why the content of a file ended before its end. */
  failure(): Error | undefined;
}

// What most mail servers take, before it is encoded for the way.
const mostBytes = 25 * 1_024 * 1_024;

/**
 * Opens the files that go with a mail. Whoever gets them disposes of them, sent or not.
 *
 * @throws PermanentError `attachment_missing`, `attachments_too_large`
 * @throws TransientError `attachment_unavailable`
 */
export async function openAttachments(
  open: OpenAttachment,
  wanted: readonly { readonly fileId: string; readonly name?: string | undefined }[],
  signal: AbortSignal,
): Promise<Attachments> {
  let failure: Error | undefined;
  const files: MailAttachment[] = [];
  const close = async () => {
    for (const { content } of files) content.destroy();
  };
  try {
    let bytes = 0;
    for (const { fileId, name } of wanted) {
      const file = await open(fileId, signal);
      file.content.on("error", (error) => {
        failure ??= toAttachmentError(fileId, error);
      });
      files.push({ filename: name ?? file.name, contentType: file.contentType, content: file.content });
      bytes += file.bytes;
      if (bytes <= mostBytes) continue;
      throw new PermanentError(`A mail's attachments may hold ${mostBytes} bytes in all. Send a link instead.`, {
        code: "attachments_too_large",
      });
    }
  } catch (error) {
    await close();
    throw error instanceof PermanentError || signal.aborted
      ? error
      : toAttachmentError(wanted[files.length]?.fileId, error);
  }
  return { files, failure: () => failure, [Symbol.asyncDispose]: close };
}

function toAttachmentError(fileId: string | undefined, cause: unknown): Error {
  const isGone = Error.isError(cause) && "failureKind" in cause && cause.failureKind === "permanent";
  return isGone
    ? new PermanentError(`The attachment ${fileId} cannot be read. ${cause.message}`, {
        code: "attachment_missing",
        cause,
      })
    : new TransientError(`The attachment ${fileId} could not be read for now.`, {
        code: "attachment_unavailable",
        cause,
      });
}
