import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./workers.ts";

/**
 * FILE_STORE_URL as every process of the repository understands it, whichever folder it runs in: `file:uploads` is the folder beside the
 * root's package.json. Other values stay as they are.
 */
export function resolveFileStoreUrl(url: string): string {
  const relative = /^file:(?!\/)(.+)$/.exec(url)?.[1];
  return relative === undefined ? url : pathToFileURL(join(root, relative)).href;
}
