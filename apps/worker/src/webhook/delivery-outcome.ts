import { readRetryAfter, type SafeHttpError, type SafeResponse } from "@millrace/safe-http";
import { PermanentError, TransientError } from "@millrace/worker-host";

/**
 * What an answer means for its delivery: nothing for 2xx, else an error. Only 410 says that there will never be another answer. Anything else,
 * refusals (4xx) and redirects included, may be a receiver in the middle of its own deploy and is tried again, as Standard Webhooks advises
 * (https://www.standardwebhooks.com); not before the time of its Retry-After, but as an attempt, since an endpoint that is busy for ever must
 * not be called for ever. No word of the answer is in the error.
 *
 * @param now milliseconds since 1970, for a Retry-After that is a date
 */
export function failureOfAnswer(
  { status, headers }: Pick<SafeResponse, "status" | "headers">,
  now: number,
): PermanentError | TransientError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const message = `The endpoint answered ${status}.`;
  if (status === 410) return new PermanentError(message, { code: "endpoint_gone" });
  const retryAfterMs = status === 429 || status === 503 ? readRetryAfter(headers["retry-after"], now) : undefined;
  if (retryAfterMs !== undefined) return new TransientError(message, { code: "endpoint_busy", retryAfterMs });
  return new TransientError(message, { code: codeOf(status) });
}

/** What it means that there is no answer. An address that is refused stays so, whatever time goes by. */
export function failureOfRequest(error: SafeHttpError): PermanentError | TransientError {
  const { code, message } = error;
  const isRefused = code === "address_refused" || code === "url_refused";
  return isRefused ? new PermanentError(message, { code }) : new TransientError(message, { code });
}

function codeOf(status: number): string {
  if (status < 400) return "endpoint_redirected";
  return status < 500 ? "endpoint_refused" : "endpoint_failed";
}
