import { createHash, randomBytes } from "node:crypto";

/** A key as its owner holds it: `mr_<id>_<secret>`. The id finds its record without a search, the secret proves it. */
interface KeyText {
  readonly id: string;
  readonly secret: string;
}

export function newKeyText(): KeyText & { readonly text: string } {
  const id = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  return { id, secret, text: `mr_${id}_${secret}` };
}

/** Nothing where the text has another form, so that no key of ours is it. */
export function parseKeyText(text: string): KeyText | undefined {
  const [, id, secret] = /^mr_([0-9a-f]{16})_([\w-]{43})$/.exec(text) ?? [];
  return id !== undefined && secret !== undefined ? { id, secret } : undefined;
}

/**
 * What is kept of a secret. A plain SHA-256 is enough: the secret is 256 random bits, so that there is nothing to guess, and a slow hash, which
 * protects what people make up, would only cost time at every request.
 */
export function digestSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
