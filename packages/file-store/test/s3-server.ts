import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { FileStoreLocation, S3Credentials } from "../src/index.ts";

interface StoredObject {
  readonly body: Buffer;
  readonly contentType?: string | undefined;
  readonly metadata: string | undefined;
}

/** An S3 server with one bucket in memory. It checks every signature and digest for itself, and speaks of S3 what a store needs. */
export interface S3Server {
  readonly settings: { readonly location: FileStoreLocation & { kind: "s3" }; readonly credentials: S3Credentials };
  readonly objects: Map<string, StoredObject>;
  /** Method and URL of each request that came. */
  readonly requests: string[];
  /** What the next requests are answered with instead; undefined: as S3 answers. */
  fault: { status: number; code: string } | "silent" | undefined;
  stop(): Promise<void>;
}

const bucket = "millrace-files";
const credentials = { accessKeyId: "TESTKEY", secretAccessKey: "a secret of the tests" };
// Small, so that a few files make several pages. A server may return fewer than it is asked for.
const pageSize = 3;

export async function startS3Server(): Promise<S3Server> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => refuse(response, 500, error.message));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a port");
  const endpoint = `http://127.0.0.1:${address.port}`;
  const state: S3Server = {
    settings: { location: { kind: "s3", bucket, prefix: "uploads/", endpoint, region: "eu-test-1" }, credentials },
    objects: new Map(),
    requests: [],
    fault: undefined,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return state;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    state.requests.push(`${request.method} ${request.url}`);
    if (state.fault === "silent") return;
    if (state.fault) return refuse(response, state.fault.status, state.fault.code);
    const flaw = flawIn(request, body);
    if (flaw) return refuse(response, 403, flaw);
    const url = new URL(request.url ?? "/", endpoint);
    const [, bucketName, ...segments] = url.pathname.split("/").map(decodeURIComponent);
    if (bucketName !== bucket) return refuse(response, 404, "NoSuchBucket");
    const key = segments.join("/");
    if (key === "") return list(url.searchParams, response);
    const found = state.objects.get(key);
    switch (request.method) {
      case "PUT":
        if (request.headers["content-length"] === undefined) return refuse(response, 411, "MissingContentLength");
        state.objects.set(key, {
          body,
          contentType: request.headers["content-type"],
          metadata: request.headers["x-amz-meta-file"]?.toString(),
        });
        return void response.end();
      case "DELETE":
        state.objects.delete(key);
        return void response.writeHead(204).end();
      default:
        if (!found) return refuse(response, 404, "NoSuchKey");
        if (found.metadata !== undefined) response.setHeader("x-amz-meta-file", found.metadata);
        response.setHeader("content-length", found.body.length);
        return void response.end(request.method === "HEAD" ? undefined : found.body);
    }
  }

  function list(query: URLSearchParams, response: ServerResponse): void {
    const keys = [...state.objects.keys()]
      .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > (query.get("start-after") ?? ""))
      .sort();
    const page = keys.slice(0, Math.min(pageSize, Number(query.get("max-keys"))));
    const contents = page.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join("");
    const isTruncated = `<IsTruncated>${page.length < keys.length}</IsTruncated>`;
    response.end(`<?xml version="1.0"?><ListBucketResult>${isTruncated}${contents}</ListBucketResult>`);
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status).end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
}

/** Signature V4 as the service computes it. */
function flawIn({ method, url = "", headers }: IncomingMessage, body: Buffer): string | undefined {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[a-z0-9-]+\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  if (!parts) return "AccessDenied";
  const [, accessKeyId, scope = "", signedHeaders = "", signature] = parts;
  if (accessKeyId !== credentials.accessKeyId) return "InvalidAccessKeyId";
  const time = String(headers["x-amz-date"]);
  const sentAt = Date.parse(time.replace(/(....)(..)(..T..)(..)(..Z)/, "$1-$2-$3:$4:$5"));
  if (!(Math.abs(Date.now() - sentAt) < 900_000)) return "RequestTimeTooSkewed";
  const digest = String(headers["x-amz-content-sha256"]);
  if (digest !== "UNSIGNED-PAYLOAD" && digest !== sha256(body)) return "XAmzContentSHA256Mismatch";
  const [path = "", query = ""] = url.split("?");
  const canonicalQuery = [...new URLSearchParams(query)]
    .map((pair) => pair.map(encodeRfc3986).join("="))
    .sort()
    .join("&");
  const canonicalHeaders = signedHeaders.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, canonicalQuery, canonicalHeaders.join(""), signedHeaders, digest].join("\n");
  const key = scope
    .split("/")
    .reduce((secret: string | Buffer, part) => hmac(secret, part), `AWS4${credentials.secretAccessKey}`);
  const expected = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
  return expected === signature ? undefined : "SignatureDoesNotMatch";
}

function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
