import { createHmac } from "node:crypto";
import { keyOf } from "./webhook-secret.ts";

export interface WebhookMessage {
  /** Known to the receiver as the message's own: the same at every attempt. Holds no `.`, which separates what is signed. */
  readonly id: string;
  /** When it is sent: of each attempt its own, since a receiver refuses old ones. */
  readonly sentAt: Date;
  /** The body as it is sent, byte for byte. */
  readonly body: string | Uint8Array;
}

export type WebhookHeaders = Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>;

/**
 * Signs a message as Standard Webhooks has it (https://www.standardwebhooks.com): HMAC-SHA256 over `id.timestamp.body`, a signature per
 * secret, so that a receiver knows the message by the old secret or by the new one while a secret is changed.
 *
 * @throws TypeError when the id holds more than letters, digits, `_` and `-`, the time is none, or there is no usable secret
 */
export function signWebhook({ id, sentAt, body }: WebhookMessage, secrets: readonly string[]): WebhookHeaders {
  if (!/^[\w-]+$/.test(id)) throw new TypeError("Webhook id: expected letters, digits, _ and -.");
  if (secrets.length === 0) throw new TypeError("Webhook secrets: expected at least one, got none.");
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  if (timestamp === "NaN") throw new TypeError("Webhook time: expected a valid date.");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets
      .map((secret) => `v1,${signatureOf(secret, id, timestamp, body).toString("base64")}`)
      .join(" "),
  };
}

/** @throws TypeError when the secret is not usable */
export function signatureOf(secret: string, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
}
