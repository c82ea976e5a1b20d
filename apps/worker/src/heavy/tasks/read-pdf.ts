import { getDocumentProxy } from "unpdf";
import type { ReadDocument } from "./document.ts";
import { TaskRefusal } from "./task.ts";

export const readPdf: ReadDocument = async (content, { text, maxPages, progress }) => {
  // A copy: the library takes the memory that it is given. It writes to the console what it thinks of a file, and 0 is its errors alone.
  const document = await getDocumentProxy(new Uint8Array(content), { verbosity: 0 }).catch(refuseEncrypted);
  const { numPages } = document;
  if (numPages > maxPages)
    throw new TaskRefusal("too_many_pages", `Expected at most ${maxPages} pages (HEAVY_MAX_PAGES), got ${numPages}.`);
  for (let number = 1; number <= numPages; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    if (number > 1) text.write("\n");
    for (const item of items) if ("str" in item) text.write(item.hasEOL ? `${item.str}\n` : item.str);
    text.write("\n");
    page.cleanup();
    progress((100 * number) / numPages);
  }
  await document.loadingTask.destroy();
  return numPages;
};

function refuseEncrypted(error: unknown): never {
  // Its errors are of a kind of its own, which Error.isError does not know.
  if (error instanceof Error && error.name === "PasswordException")
    throw new TaskRefusal("file_encrypted", "Expected a document without a password, this one is encrypted.");
  throw error;
}
