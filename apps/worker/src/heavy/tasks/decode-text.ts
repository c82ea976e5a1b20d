/** The characters of a text file; nothing where it is none. By its mark, else UTF-8, else what Windows has always written in the west. */
export function decodeText(content: Buffer): string | undefined {
  const encoding = content.subarray(0, 2).equals(Buffer.from([0xff, 0xfe]))
    ? "utf-16le"
    : content.subarray(0, 2).equals(Buffer.from([0xfe, 0xff]))
      ? "utf-16be"
      : undefined;
  const text = encoding ? new TextDecoder(encoding).decode(content) : decodeBytes(content);
  // No text holds these; programs, images and archives do.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\x00-\x08\x0e-\x1a]/.test(text) ? undefined : text;
}

function decodeBytes(content: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return new TextDecoder("windows-1252").decode(content);
  }
}
