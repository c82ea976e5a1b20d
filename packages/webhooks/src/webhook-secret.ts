import { randomBytes } from "node:crypto";

const prefix = "whsec_";
// What Standard Webhooks asks for: 24 to 64 bytes.
const madeBytes = 32;
const fewestBytes = 24;
const mostBytes = 64;

/** A new secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function createWebhookSecret(): string {
  return `${prefix}${randomBytes(madeBytes).toString("base64")}`;
}

/**
 * The key of a secret; `whsec_` may be left out.
 *
 * @throws TypeError when it is not base64 of 24 to 64 bytes. The secret is not repeated.
 */
export function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const key = Buffer.from(encoded, "base64");
  // Node skips what is not base64, and would make a shorter key of it.
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded);
  if (isBase64 && key.length >= fewestBytes && key.length <= mostBytes) return key;
  throw new TypeError(
    `Webhook secret: expected whsec_ and base64 of ${fewestBytes} to ${mostBytes} bytes, got ${isBase64 ? `${key.length} bytes` : "something else"}.`,
  );
}
