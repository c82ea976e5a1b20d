import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFileStore } from "./index.ts";

const note = { name: "note.txt", contentType: "text/plain" };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-files-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const openStore = () => createFileStore({ location: { kind: "folder", folder } });

/** A process that is killed in the middle of an upload. */
async function dieWhileWriting(): Promise<void> {
  const program = `
    import { createFileStore } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
    const half = async function* () {
      yield Buffer.from("the first half");
      process.stdout.write("half");
      await new Promise((never) => setTimeout(never, 60_000));
    };
    await createFileStore(${JSON.stringify({ location: { kind: "folder", folder } })}).put(half(), ${JSON.stringify(note)});`;
  const child = spawn(process.execPath, ["--conditions=millrace-source", "--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
}

test("a writer that was killed leaves nothing to open, and its remains are swept when no living writer can own them", async () => {
  const store = openStore();
  const { fileId } = await store.put(Buffer.from("whole"), note);
  await dieWhileWriting();
  const remains = (await readdir(folder)).filter((name) => name !== fileId);
  expect(remains).toEqual([expect.stringMatching(/\.part$/)]);
  for (const name of remains) await expect(store.open(name)).rejects.toMatchObject({ code: "invalid_file_id" });
  expect(await store.sweepExpired()).toEqual({ removed: 0, leftovers: 0, hasMore: false });
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of remains) await utimes(join(folder, name), longAgo, longAgo);
  expect(await store.sweepExpired()).toEqual({ removed: 0, leftovers: 1, hasMore: false });
  expect(await readdir(folder)).toEqual([fileId]);
});

test("a link in the folder is followed nowhere", async () => {
  const store = openStore();
  const { fileId } = await store.put(Buffer.from("mine"), note);
  const outside = join(folder, "outside");
  await writeFile(outside, "a secret");
  await rm(join(folder, fileId));
  await symlink(outside, join(folder, fileId));
  await expect(store.open(fileId)).rejects.toMatchObject({ code: "file_missing" });
  await expect(store.stat(fileId)).rejects.toMatchObject({ code: "file_missing" });
  expect(await store.delete(fileId)).toBe(true);
  expect((await stat(outside)).size).toBe("a secret".length);
});

test("files are for their owner alone, and a folder is made when it is first needed", async () => {
  const inner = join(folder, "made", "on demand");
  const store = createFileStore({ location: { kind: "folder", folder: inner } });
  expect(await readdir(folder)).toEqual([]);
  const { fileId } = await store.put(Buffer.from("x"), note);
  expect((await stat(join(inner, fileId))).mode & 0o777).toBe(0o600);
});

test("other things in the folder are neither files nor swept", async () => {
  await writeFile(join(folder, "README"), "not ours");
  const store = openStore();
  expect(await store.sweepExpired({ now: 2 ** 47 })).toEqual({ removed: 0, leftovers: 0, hasMore: false });
  expect(await readdir(folder)).toEqual(["README"]);
});

test("a file that is deleted while it is read is read to its end", async () => {
  const store = openStore();
  const { fileId } = await store.put(Buffer.from("still here"), note);
  const { content } = await store.open(fileId);
  await store.delete(fileId);
  expect(await text(content)).toBe("still here");
});
