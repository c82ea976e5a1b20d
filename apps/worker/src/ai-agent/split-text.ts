/** Parts of at most so many characters, cut at the end of a paragraph, else of a line or a word where there is one in the second half. */
export function splitText(text: string, maxCharacters: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > maxCharacters) {
    const end = endOfPart(rest, maxCharacters);
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end);
  }
  parts.push(rest.trim());
  return parts.filter((part, index) => part !== "" || index === 0);
}

function endOfPart(text: string, maxCharacters: number): number {
  for (const separator of ["\n\n", "\n", " "]) {
    const end = text.lastIndexOf(separator, maxCharacters - separator.length);
    if (end > maxCharacters / 2) return end + separator.length;
  }
  // Never between the two halves of one sign.
  return /[\uD800-\uDBFF]/.test(text[maxCharacters - 1] ?? "") ? maxCharacters - 1 : maxCharacters;
}
