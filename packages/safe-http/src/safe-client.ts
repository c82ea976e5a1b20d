import { Client, type Dispatcher } from "undici";
import { isPublicAddress, isPublicOrPrivateAddress } from "./address-rule.ts";
import { checkUrl } from "./check-url.ts";
import { guardConnector, type ResolveName, resolveBySystem } from "./guarded-connector.ts";
import { SafeHttpError, toSafeHttpError } from "./safe-http-error.ts";

export interface SafeClientOptions {
  /** Whether private networks and this machine may be reached, as in development. Defaults to false: the public internet alone. */
  readonly allowPrivate?: boolean;
  /** Defaults to how the operating system resolves names. */
  readonly resolve?: ResolveName;
}

export interface SafeRequest {
  /** Defaults to `GET`. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Those that are the client's own, such as `host` and `accept-encoding`, are left out. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the request; its reason is what the caller gets. */
  readonly signal?: AbortSignal;
  /** For everything together: name, connection, sending, and the last byte that is read. Defaults to 15,000 milliseconds. */
  readonly deadlineMs?: number;
  /** How much of the body is read; the rest is not asked for. Defaults to 65,536 bytes. */
  readonly maxBytes?: number;
}

export interface SafeResponse {
  /** Whatever the other side said. A redirect (3xx) is an answer like any other and is not followed. */
  readonly status: number;
  /** By lower-case name; one that came several times is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first `maxBytes` of the body. */
  readonly body: Buffer;
  /** Whether the body went on. */
  readonly truncated: boolean;
  readonly durationMs: number;
}

// With a host of its own a request could be another's than the one whose address was checked; a compressed body would be measured before it
// is unpacked; the others are the connection's.
const ownHeaders =
  /^(host|accept-encoding|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length)$/i;

/**
 * @throws SafeHttpError whose `code` says why there is no answer
 * @throws the reason of `signal`
 */
export type SafeRequestFunction = (url: string, request?: SafeRequest) => Promise<SafeResponse>;

/**
 * Calls URLs that others chose, without being turned against the network it runs in: only http(s), only public addresses, no redirects, a
 * total deadline, and a bound on what is read. Each request has a connection of its own, so that none is made on a check of yesterday.
 * Proxies of the environment are not used: through one, nobody could check the address.
 */
export function createSafeClient({
  allowPrivate = false,
  resolve = resolveBySystem,
}: SafeClientOptions = {}): SafeRequestFunction {
  const isAllowed = allowPrivate ? isPublicOrPrivateAddress : isPublicAddress;
  const connect = guardConnector(isAllowed, resolve);
  return async (given, request = {}) => {
    const { deadlineMs = 15_000, signal: callersSignal } = request;
    callersSignal?.throwIfAborted();
    const startedAt = performance.now();
    const url = checkUrl(given, isAllowed);
    const deadline = AbortSignal.timeout(deadlineMs);
    const signal = callersSignal ? AbortSignal.any([deadline, callersSignal]) : deadline;
    const client = new Client(url.origin, {
      connect,
      pipelining: 0,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16_384,
    });
    try {
      return await send(client, url, request, signal, startedAt);
    } catch (error) {
      callersSignal?.throwIfAborted();
      if (deadline.aborted) {
        throw new SafeHttpError("timeout", `No complete answer within ${deadlineMs} ms.`);
      }
      throw toSafeHttpError(error);
    } finally {
      // Also what is still connecting, and a body that goes on.
      client.destroy().catch(() => {});
    }
  };
}

async function send(
  client: Client,
  url: URL,
  { method = "GET", headers = {}, body, maxBytes = 65_536 }: SafeRequest,
  signal: AbortSignal,
  startedAt: number,
): Promise<SafeResponse> {
  const response = await client.request({
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.test(name))),
      "accept-encoding": "identity",
    },
    body: body ?? null,
    signal,
  });
  const read = await readBody(response.body, maxBytes);
  return {
    status: response.statusCode,
    headers: flatten(response.headers),
    ...read,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

async function readBody(
  body: Dispatcher.ResponseData["body"],
  maxBytes: number,
): Promise<Pick<SafeResponse, "body" | "truncated">> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > maxBytes) break;
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes };
}

function flatten(headers: Dispatcher.ResponseData["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}
