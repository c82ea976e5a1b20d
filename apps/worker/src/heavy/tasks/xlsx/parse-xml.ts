import type { Readable } from "node:stream";
import { SaxesParser } from "saxes";

/** What is told of an XML document, in its order. */
export interface XmlReader {
  /** @param attribute one by its name without a prefix */
  open?(name: string, attribute: (name: string) => string | undefined): void;
  /** Also of CDATA; of one text in one or several parts. */
  text?(text: string): void;
  close?(name: string): void;
}

/**
 * Reads XML in UTF-8. Names are those without a prefix: which one stands before them is the writer's choice, and some put one before all.
 *
 * @throws Error where it is not well-formed, or not UTF-8
 */
export async function parseXml(content: Readable, { open, text, close }: XmlReader): Promise<void> {
  const parser = new SaxesParser({ xmlns: true, position: false });
  parser.on("opentag", ({ local, attributes }) => {
    const attribute = (name: string) =>
      (attributes[name] ?? Object.values(attributes).find((other) => other.local === name))?.value;
    open?.(local, attribute);
  });
  parser.on("text", (part) => text?.(part));
  parser.on("cdata", (part) => text?.(part));
  parser.on("closetag", ({ local }) => close?.(local));
  // Other encodings are refused: read as UTF-8 they would be text with holes in it.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of content) parser.write(decoder.decode(chunk, { stream: true }));
  parser.write(decoder.decode());
  parser.close();
}
