import { AwsV4Signer } from "aws4fetch";
import { FileStoreError } from "./file-store-error.ts";
import type { FileStoreLocation } from "./location.ts";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Without the location's prefix; none means the bucket itself. */
  readonly key?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

/** One signed request. Resolves with an answer of success, or with 404. */
export type SendToS3 = (request: S3Request) => Promise<Response>;

/**
 * Speaks to one bucket, by path and with signature V4. It asks once: a job that fails is tried again by its queue, and retries within
 * retries multiply.
 *
 * The answer throws FileStoreError `file_store_unavailable` for whatever keeps the store from answering, wrong keys and an unknown
 * bucket included: they are for the operator to mend, and until then a job waits.
 *
 * @param silentForMs how long no byte may be sent and no answer come, in milliseconds. Defaults to 10 seconds; an upload may take longer.
 */
export function createS3Client(
  { endpoint, bucket, prefix, region }: FileStoreLocation & { kind: "s3" },
  credentials: S3Credentials,
  silentForMs = 10_000,
): SendToS3 {
  return async ({ method, key, query, headers = {}, body, signal }) => {
    const path = key === undefined ? bucket : `${bucket}/${prefix}${key}`;
    const url = `${endpoint}/${path}${query ? `?${new URLSearchParams(query)}` : ""}`;
    const signed = await new AwsV4Signer({ method, url, headers, ...credentials, service: "s3", region }).sign();
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error(`silent for ${silentForMs} ms`)), silentForMs);
    try {
      const response = await fetch(signed.url, {
        method,
        headers: signed.headers,
        redirect: "manual",
        signal: AbortSignal.any(signal ? [signal, silence.signal] : [silence.signal]),
        ...(body && { body: ReadableStream.from(onEachChunk(body, () => timer.refresh())), duplex: "half" }),
      });
      if (response.ok || (response.status === 404 && key !== undefined)) return response;
      throw unavailable(`${method} was answered with ${response.status} ${await codeIn(response)}`.trimEnd());
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof FileStoreError ? error : unavailable(`${method} got no answer`, error);
    } finally {
      clearTimeout(timer);
    }
  };

  function unavailable(what: string, cause?: unknown): FileStoreError {
    return new FileStoreError(
      "file_store_unavailable",
      `The object store at ${endpoint}, bucket ${bucket}: ${what}. Is it up, and are FILE_STORE_URL and the keys beside it right?`,
      cause,
    );
  }
}

async function* onEachChunk(chunks: AsyncIterable<Uint8Array>, note: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    note();
    yield chunk;
  }
}

/** The code of an S3 error, such as SignatureDoesNotMatch. Nothing else of it: the rest repeats what was signed. */
async function codeIn(response: Response): Promise<string> {
  return /<Code>(\w{1,64})<\/Code>/.exec(await response.text())?.[1] ?? "";
}
