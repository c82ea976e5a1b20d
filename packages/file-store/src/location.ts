import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";

/** Where a store keeps its files. */
export type FileStoreLocation =
  | { readonly kind: "folder"; readonly folder: string }
  | {
      readonly kind: "s3";
      readonly bucket: string;
      /** Before the id of each object; empty, or ends with `/`. */
      readonly prefix: string;
      /** The server, without bucket and path: `https://s3.eu-central-1.amazonaws.com`. */
      readonly endpoint: string;
      readonly region: string;
    };

const expected = "expected file:///absolute/folder or s3://bucket[/prefix][?endpoint=https://…&region=…]";
const bucketPattern = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
// Nothing that XML or a signature would write in another way.
const prefixPattern = /^([A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;
const regionPattern = /^[a-z0-9-]+$/;

/**
 * Reads FILE_STORE_URL. The region is `us-east-1` where none is named, the endpoint is Amazon's of that region.
 *
 * @throws TypeError with a sentence that does not repeat the URL: somebody may have written a key into it
 */
export function parseFileStoreUrl(text: string): FileStoreLocation {
  const url = URL.parse(text);
  if (url?.protocol === "file:") return parseFolder(text, url);
  if (url?.protocol === "s3:") return parseBucket(url);
  throw new TypeError(expected);
}

function parseFolder(text: string, url: URL): FileStoreLocation {
  // `file:files` is the absolute /files for a URL parser: only three slashes mean what they say.
  if (!text.startsWith("file:///") || url.search !== "" || url.hash !== "")
    throw new TypeError(
      `${expected}; processes in different folders would understand a relative one differently, \`pnpm dev\` and \`pnpm start\` resolve it`,
    );
  const folder = fileURLToPath(url);
  if (!isAbsolute(folder)) throw new TypeError(expected);
  return { kind: "folder", folder };
}

function parseBucket(url: URL): FileStoreLocation {
  if (url.username !== "" || url.password !== "")
    throw new TypeError(`${expected}, with the keys in FILE_STORE_ACCESS_KEY_ID and FILE_STORE_SECRET_ACCESS_KEY`);
  const unknown = [...url.searchParams.keys()].filter((name) => name !== "endpoint" && name !== "region");
  if (unknown.length > 0 || url.hash !== "" || url.port !== "") throw new TypeError(expected);
  const region = url.searchParams.get("region") ?? "us-east-1";
  const endpoint = URL.parse(url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`);
  const path = url.pathname.replace(/^\/|\/$/g, "");
  const prefix = path === "" ? "" : `${path}/`;
  if (!bucketPattern.test(url.hostname))
    throw new TypeError(`${expected}, with a bucket of 3 to 63 of a-z, 0-9, - and .`);
  if (!prefixPattern.test(prefix)) throw new TypeError(`${expected}, with a prefix of letters, digits, -, _, . and /`);
  if (!regionPattern.test(region)) throw new TypeError(`${expected}, with a region such as eu-central-1`);
  if (!endpoint || !/^https?:$/.test(endpoint.protocol) || endpoint.pathname !== "/" || endpoint.username !== "")
    throw new TypeError(`${expected}, with an endpoint of http(s)://host[:port] alone`);
  return { kind: "s3", bucket: url.hostname, prefix, endpoint: endpoint.origin, region };
}
