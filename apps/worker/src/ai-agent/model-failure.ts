import { readRetryAfter } from "@millrace/safe-http";
import { causesOf, PermanentError, RateLimitedError, TransientError } from "@millrace/worker-host";
import { APICallError, StreamProviderError } from "ai";

type ModelFailure = PermanentError | RateLimitedError | TransientError;

const transientStatuses: ReadonlySet<number> = new Set([408, 409, 425]);

/**
 * What it means that a model gave no answer. No word of what was sent or answered is in the error: the server's own words may repeat the prompt.
 *
 * | the server | then |
 * | --- | --- |
 * | 429 | put off, for as long as its Retry-After says |
 * | 408, 409, 425, 5xx | tried again |
 * | any other 4xx | dead, with a code |
 * | no connection, a broken one, silence | tried again |
 * | a redirect, more than it may answer | dead, with a code |
 *
 * @param thrown what the SDK threw, or put into its stream
 * @param now milliseconds since 1970, for a Retry-After that is a date
 */
export function failureOfModel(thrown: unknown, now: number = Date.now()): ModelFailure {
  for (const link of causesOf(thrown)) {
    if (APICallError.isInstance(link) && link.statusCode !== undefined && link.statusCode >= 400) {
      return failureOfStatus(link.statusCode, link, now);
    }
    // Of our own fetch, which the SDK may have wrapped.
    if (link instanceof PermanentError) return link;
  }
  const codes = [...causesOf(thrown)].map(codeOf);
  const timedOut = codes.find((code) => /^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/.test(code));
  if (timedOut) {
    const phase = timedOut === "UND_ERR_CONNECT_TIMEOUT" ? "connection" : "byte";
    return new TransientError(`The model's server gave no ${phase} in time (${timedOut}).`, { code: "model_timeout" });
  }
  const network = codes.find((code) => /^(E[A-Z_]+|UND_ERR_\w+)$/.test(code));
  if (network) {
    return new TransientError(`The connection to the model's server failed (${network}).`, {
      code: "model_unreachable",
    });
  }
  return failureInStream(thrown);
}

function failureOfStatus(status: number, error: APICallError, now: number): ModelFailure {
  const message = `The model's server answered ${status}.`;
  const { "retry-after-ms": milliseconds = "", "retry-after": retryAfter } = error.responseHeaders ?? {};
  // OpenAI's own header says it in milliseconds.
  const seconds = /^\d{1,9}$/.test(milliseconds) ? String(Number(milliseconds) / 1_000) : retryAfter;
  const retryAfterMs = readRetryAfter(seconds, now);
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429) return new RateLimitedError(message, { code: "model_rate_limited", ...asked });
  if (status >= 500 || transientStatuses.has(status)) {
    return new TransientError(message, { code: "model_unavailable", ...asked });
  }
  return new PermanentError(message, { code: codeOfRefusal(status, error.responseBody ?? "") });
}

/** A server that has begun to stream says what went wrong in the stream itself. */
function failureInStream(thrown: unknown): ModelFailure {
  const said = wordsOfServer(thrown);
  if (isContextLength(said)) {
    return new PermanentError("The model's server refused the request in its stream.", { code: "context_length" });
  }
  if (/rate.?limit/i.test(said)) {
    return new RateLimitedError("The model's server said in its stream that its limit is reached.", {
      code: "model_rate_limited",
    });
  }
  return new TransientError("The model's server broke its answer off.", { code: "model_stream_broken" });
}

/** What the server reported in its stream. Any other error is the SDK's, and what it holds may be the prompt: its words decide nothing. */
function wordsOfServer(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (typeof thrown !== "object" || thrown === null) return "";
  if (Error.isError(thrown) && !StreamProviderError.isInstance(thrown)) return "";
  const report: object = "error" in thrown && typeof thrown.error === "object" && thrown.error ? thrown.error : thrown;
  const said = ["message" in report && report.message, "code" in report && report.code];
  return said.filter((word) => typeof word === "string").join(" ");
}

function codeOfRefusal(status: number, body: string): string {
  if (isContextLength(body)) return "context_length";
  switch (status) {
    case 401:
    case 403:
      return "model_unauthorized";
    case 402:
      return "model_unpaid";
    case 404:
      return "model_unknown";
    case 413:
      return "context_length";
    default:
      return "model_refused";
  }
}

function isContextLength(text: string): boolean {
  return /context[_ ](length|window|size)|maximum context|too many tokens/i.test(text);
}

function codeOf(link: Error): string {
  return "code" in link && typeof link.code === "string" ? link.code : "";
}
