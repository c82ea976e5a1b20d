import { timingSafeEqual } from "node:crypto";
import { signatureOf } from "./sign-webhook.ts";

/**
 * Why a message is not believed.
 *
 * - `missing_header`: webhook-id, webhook-timestamp or webhook-signature is not there
 * - `invalid_id`: it holds a dot, which separates what is signed: part of it could be the time of another message
 * - `invalid_timestamp`: it is no whole number of seconds
 * - `timestamp_too_old`, `timestamp_too_new`: outside the tolerance; an old message may be a replay
 * - `signature_mismatch`: none of the signatures is of one of the secrets
 */
export type WebhookVerificationCode =
  | "missing_header"
  | "invalid_id"
  | "invalid_timestamp"
  | "timestamp_too_old"
  | "timestamp_too_new"
  | "signature_mismatch";

/** The message is not the sender's, or not of now. Answer 400 and do nothing with it. Neither secret nor signature is in the message. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface VerifyOptions {
  /** How old a message may be, and how far ahead the sender's clock, in milliseconds. Defaults to five minutes. */
  readonly toleranceMs?: number;
  /** Milliseconds since 1970. Defaults to the system's clock. */
  readonly now?: () => number;
}

type ReceivedHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Whether a message that came in is the sender's own, as it was sent and of now. It takes several signatures and several secrets, and one
 * that fits is enough. A sender tries again, so that the same `id` may come twice: remember the ids that were dealt with.
 *
 * @param headers as received: Node's `request.headers`, or a `Headers`. Names in any case.
 * @param rawBody the bytes as they came. A body that was parsed and written again is another one.
 * @param secrets one, or several while a secret is changed
 * @throws WebhookVerificationError whatever a stranger may have sent
 * @throws TypeError or RangeError when a secret or the tolerance is not usable, which is the receiver's own mistake
 */
export function verifyWebhook(
  headers: ReceivedHeaders,
  rawBody: string | Uint8Array,
  secrets: string | readonly string[],
  { toleranceMs = 300_000, now = Date.now }: VerifyOptions = {},
): { id: string; sentAt: Date } {
  // A tolerance that is no number would be kept by every time.
  if (!(toleranceMs >= 0)) throw new RangeError(`toleranceMs: expected milliseconds, 0 or more, got ${toleranceMs}.`);
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const given = headerOf(headers, "webhook-signature");
  if (id.includes(".")) throw new WebhookVerificationError("invalid_id", "webhook-id: expected no dot in it.");
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError("invalid_timestamp", "webhook-timestamp: expected whole seconds since 1970.");
  }
  const sentAt = new Date(Number(timestamp) * 1_000);
  const keys = typeof secrets === "string" ? [secrets] : secrets;
  const expected = keys.map((secret) => signatureOf(secret, id, timestamp, rawBody));
  const received = given.split(" ").flatMap(decodeSignature);
  // Each with each, so that the time says nothing of which one fits.
  const fits = expected.flatMap((one) => received.map((other) => timingSafeEqual(one, other)));
  if (!fits.includes(true)) {
    throw new WebhookVerificationError(
      "signature_mismatch",
      "webhook-signature: none is of a known secret over this id, time and body. Was the body taken as it came?",
    );
  }
  const ageMs = now() - sentAt.getTime();
  if (ageMs > toleranceMs) throw new WebhookVerificationError("timestamp_too_old", `Sent ${seconds(ageMs)} s ago.`);
  if (ageMs < -toleranceMs)
    throw new WebhookVerificationError("timestamp_too_new", `Sent ${seconds(-ageMs)} s ahead of now.`);
  return { id, sentAt };
}

function headerOf(headers: ReceivedHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : recordValue(headers, name);
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookVerificationError("missing_header", `${name}: expected this header once.`);
}

function recordValue(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string): unknown {
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
  return values.length === 1 ? values[0] : undefined;
}

const signatureBytes = 32;

/** The version says how it was made: `v1` is HMAC-SHA256, and any other is for somebody else. */
function decodeSignature(text: string): Buffer[] {
  const encoded = /^v1,([A-Za-z0-9+/]+=*)$/.exec(text)?.[1];
  const bytes = Buffer.from(encoded ?? "", "base64");
  return bytes.length === signatureBytes ? [bytes] : [];
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
