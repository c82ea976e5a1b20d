import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createFileStore, type FileStore } from "@millrace/file-store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createInWorkFolder, removeLeftovers, renamed } from "./work-folder.ts";

let parent = "";
let files: FileStore;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "millrace-work-"));
  files = createFileStore({ location: { kind: "folder", folder: join(parent, "store") } });
});
afterEach(() => rm(parent, { recursive: true }));

const signal = new AbortController().signal;
const put = (content: string) => files.put(Buffer.from(content), { name: "a.txt", contentType: "text/plain" });
const inWorkFolder = (maxInputBytes = 100) => createInWorkFolder({ files, parent, maxInputBytes });
const folders = async () => (await readdir(parent)).filter((name) => name !== "store");

test("a file comes in and another goes out, and nothing stays", async () => {
  const { fileId } = await put("tea");
  const made = await inWorkFolder()({ signal }, async ({ bringIn, bringOut, path }) => {
    const input = await bringIn(fileId);
    expect(await folders()).toHaveLength(1);
    await writeFile(path("out"), (await readFile(input.path, "utf8")).toUpperCase());
    return bringOut(path("out"), { name: "b.txt", contentType: "text/plain", ttlMs: 60_000 });
  });
  expect(await text((await files.open(made.fileId)).content)).toBe("TEA");
  expect(Date.parse(made.expiresAt ?? "")).toBeLessThan(Date.now() + 61_000);
  expect(await folders()).toEqual([]);
});

test("work that fails, or is called off while its file comes in, leaves nothing", async () => {
  const failing = inWorkFolder()({ signal }, async ({ path }) => {
    await writeFile(path("half"), "x");
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  const { fileId } = await put("tea");
  const cancelling = new AbortController();
  const cancelled = inWorkFolder()(cancelling, ({ bringIn }) => {
    const coming = bringIn(fileId);
    cancelling.abort(new Error("called off"));
    return coming;
  });
  await expect(cancelled).rejects.toThrow();
  expect(await folders()).toEqual([]);
});

test("a file that is too large is refused before it is opened", async () => {
  const { fileId } = await put("more than three");
  const opened: string[] = [];
  const open: FileStore["open"] = (id, options) => {
    opened.push(id);
    return files.open(id, options);
  };
  const watched = { ...files, open };
  const refused = createInWorkFolder({ files: watched, parent, maxInputBytes: 3 })({ signal }, ({ bringIn }) =>
    bringIn(fileId),
  );
  await expect(refused).rejects.toMatchObject({ failureKind: "permanent", code: "input_too_large" });
  expect(opened).toEqual([]);
});

test("what a killed process left is removed a day later, and nothing else is", async () => {
  const names = ["millrace-heavy-old", "millrace-heavy-new", "somebody-else"];
  for (const name of names) await mkdir(join(parent, name));
  const longAgo = new Date(Date.now() - 25 * 60 * 60_000);
  for (const name of ["millrace-heavy-old", "somebody-else"]) await utimes(join(parent, name), longAgo, longAgo);
  await removeLeftovers(parent);
  expect((await folders()).sort()).toEqual(["millrace-heavy-new", "somebody-else"]);
});

test("a name gets another ending and stays within its bounds", () => {
  expect(renamed("photo.JPG", "webp")).toBe("photo.webp");
  expect(renamed("notes", "txt")).toBe("notes.txt");
  expect(renamed(".png", "webp")).toBe(".png.webp");
  expect(renamed("x".repeat(255), "webp")).toHaveLength(255);
  // An emoji is two code units, and half of one is no name.
  expect(renamed(`${"x".repeat(249)}😀.png`, "webp")).toBe(`${"x".repeat(249)}.webp`);
});
