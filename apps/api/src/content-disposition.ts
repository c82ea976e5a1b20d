/** The header that makes a browser save what it is sent, under this name, instead of showing it (RFC 6266). */
export function attachmentNamed(name: string): string {
  // Some programs save under whatever they are told, folders included.
  const last = name.replace(/[/\\]/g, "_");
  // For programs that know the plain form alone, which a quote would end.
  const plain = last.replace(/[^\x20-\x7e]|["%]/g, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeRfc5987(last)}`;
}

/** The name in such a header, the plain form where there is no other. undefined where it has none, or one that cannot be read. */
export function nameIn(header: string | undefined): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header ?? "")?.[1];
  if (extended !== undefined) return decode(extended);
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header ?? "") ?? [];
  return quoted?.replace(/\\(.)/g, "$1") ?? token;
}

function encodeRfc5987(text: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/['()*]/g, hex);
}

function decode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
