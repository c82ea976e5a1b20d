const maxCodes = 50;

/** What codes are called that came when there was no room left. */
export const otherCode = "other";

/**
 * Codes are words of whoever wrote a handler, who may put an id into one. The first 50 that come are themselves, all further ones are
 * `other`: a label must have few values.
 */
export function createCodeBound(): (code: string) => string {
  const known = new Set<string>();
  return (code) => {
    if (known.has(code)) return code;
    if (known.size >= maxCodes) return otherCode;
    known.add(code);
    return code;
  };
}
