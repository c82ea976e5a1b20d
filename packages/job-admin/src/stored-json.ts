/** What a field of a record holds as JSON. Nothing where it is not there or is damaged: a schema then says what is missing. */
export function parseStored(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text || "null") ?? undefined;
  } catch {
    return undefined;
  }
}
