import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { resolveFileStoreUrl } from "./file-store-url.ts";
import { root } from "./workers.ts";

test("a relative folder is one of the repository, whichever folder a process runs in", () => {
  expect(resolveFileStoreUrl("file:.millrace/my files")).toBe(pathToFileURL(join(root, ".millrace/my files")).href);
});

test("what says where it is stays as it is", () => {
  for (const url of ["file:///files", "file:/files", "s3://bucket", "nonsense", ""])
    expect(resolveFileStoreUrl(url)).toBe(url);
});
