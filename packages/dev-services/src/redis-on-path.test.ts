import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findRedisOnPath } from "./redis-on-path.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Makes a folder that holds a program of that name. */
async function folderWith(name: string, mode = 0o755): Promise<string> {
  const path = await mkdtemp(join(folder, "bin-"));
  await writeFile(join(path, name), "#!/bin/sh\n");
  await chmod(join(path, name), mode);
  return path;
}

test("the first redis-server on the path is taken, before a valkey-server that comes earlier", async () => {
  const folders = [
    await folderWith("valkey-server"),
    await folderWith("redis-server"),
    await folderWith("redis-server"),
  ];
  const found = findRedisOnPath(folders.join(delimiter));
  expect(found).toEqual({ name: "redis-server", command: join(folders[1] ?? "", "redis-server") });
});

test("a valkey-server is taken where there is no redis-server", async () => {
  const path = await folderWith("valkey-server");
  expect(findRedisOnPath(path)).toEqual({ name: "valkey-server", command: join(path, "valkey-server") });
});

test("a file that may not be executed, a folder of that name, and a folder that is not there are passed over", async () => {
  const notExecutable = await folderWith("redis-server", 0o644);
  const holdsFolder = join(folder, "holds-folder");
  await mkdir(join(holdsFolder, "redis-server"), { recursive: true });
  expect(findRedisOnPath([notExecutable, holdsFolder, join(folder, "absent"), ""].join(delimiter))).toBeUndefined();
});
