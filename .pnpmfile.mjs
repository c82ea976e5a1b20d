/**
 * The packages that carry a Node binary publish `os` and `cpu` as strings, and pnpm honours arrays only: without this every
 * platform's binary (about 40 MB each) would be downloaded.
 */
function readPackage(manifest) {
  for (const field of ["os", "cpu"]) {
    if (typeof manifest[field] === "string") manifest[field] = [manifest[field]];
  }
  return manifest;
}

export const hooks = { readPackage };
