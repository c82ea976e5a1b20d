import { ContentionError } from "@millrace/worker-host";

/**
 * Asks what must be known before a mail may go out. Where it cannot be asked, the job waits without using up an attempt: a mail is never
 * sent to whom it may not, nor a second time, because a database was away.
 *
 * @param what as in "whether the recipient gets mail"
 * @throws ContentionError `email_lookup_failed`
 */
export async function lookUp<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw new ContentionError(`It could not be asked ${what}.`, { code: "email_lookup_failed", cause });
  }
}
