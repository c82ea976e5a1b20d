import mammoth from "mammoth";
import type { ReadDocument } from "./document.ts";

export const readDocx: ReadDocument = async (content, { text }) => {
  const { value } = await mammoth.extractRawText({ buffer: content });
  text.write(value);
  return null;
};
