import { createHash } from "node:crypto";
import { jobIdSchema } from "../contracts/job-options.ts";

const maxReadableLength = 120;

/**
 * Builds a deterministic job id out of any parts: the same parts give the same id, other parts another one. Parts are joined by `-`;
 * where that alone would be ambiguous, too long or not allowed (`:` and other signs, digits alone, a part that holds `-`, such as
 * a UUID, a name that the queue keeps for itself), a hash of the parts follows after `~`.
 *
 * @example makeJobId("welcome", userId) // "welcome-7b0c…~e3b0c44298fc1c14"
 * @throws TypeError when there is no part, or a part is neither text nor a finite number: an id made of `undefined` collides with all its kind.
 */
export function makeJobId(...parts: readonly [string | number, ...(string | number)[]]): string {
  const texts = parts.map((part, index) => {
    // A caller without types may bring an object, and all objects have one text.
    const text = typeof part === "string" ? part : Number.isFinite(part) ? String(part) : "";
    if (text === "")
      throw new TypeError(`makeJobId: expected text or a finite number, got ${describe(part)} as part ${index}.`);
    return text;
  });
  if (texts.length === 0) throw new TypeError("makeJobId: expected at least one part, got none.");
  const joined = texts.join("-");
  const isPlain =
    texts.every((text) => /^[\w.@+]+$/.test(text)) &&
    joined.length <= maxReadableLength &&
    jobIdSchema.safeParse(joined).success;
  if (isPlain) return joined;
  const readable = joined.replace(/[^\w.@+-]+/g, "_").slice(0, maxReadableLength);
  return `${readable}~${createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16)}`;
}

function describe(part: unknown): string {
  return part === "" ? "an empty string" : String(part);
}
