/**
 * Why a request got no answer.
 *
 * - `url_refused`: not http(s), a port that is not allowed, credentials in it, or no URL at all
 * - `address_refused`: it leads to an address that is not public
 * - `dns_failed`: its host's name has no address, or nobody could say
 * - `connection_failed`: nobody listens, or the connection broke
 * - `tls_failed`: the certificate is not valid for the host, or the two sides do not agree on TLS
 * - `timeout`: not done within its deadline
 * - `invalid_response`: what came is not HTTP, or its headers are too large
 */
export type SafeHttpErrorCode =
  | "url_refused"
  | "address_refused"
  | "dns_failed"
  | "connection_failed"
  | "tls_failed"
  | "timeout"
  | "invalid_response";

/** A request without an answer. Neither the URL nor anything that the other side sent is in its message: both may hold secrets. */
export class SafeHttpError extends Error {
  override readonly name = "SafeHttpError";
  readonly code: SafeHttpErrorCode;

  constructor(code: SafeHttpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const invalidResponseCodes: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
]);
const tlsCodes = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;

/** Understands what undici or a socket threw. Its words and its fields stay out, some hold what was received; its code tells enough. */
export function toSafeHttpError(thrown: unknown): SafeHttpError {
  for (let link = thrown, depth = 0; Error.isError(link) && depth < 5; link = link.cause, depth++) {
    if (link instanceof SafeHttpError) return link;
    // Several addresses were tried, and each has an error of its own.
    if (link instanceof AggregateError && link.errors.length > 0) return toSafeHttpError(link.errors[0]);
  }
  const code = Error.isError(thrown) && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "no code";
  if (tlsCodes.test(code)) return new SafeHttpError("tls_failed", `No TLS connection could be made (${code}).`);
  // The parser's error has no code where the very first bytes are wrong.
  const isUnparsable = code.startsWith("HPE_") || (Error.isError(thrown) && thrown.name === "HTTPParserError");
  if (isUnparsable || invalidResponseCodes.has(code)) {
    return new SafeHttpError("invalid_response", `The answer is not valid HTTP (${code}).`);
  }
  return new SafeHttpError("connection_failed", `The connection could not be made, or broke (${code}).`);
}
