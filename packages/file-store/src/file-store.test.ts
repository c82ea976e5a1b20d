import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { fileReferenceSchema } from "@millrace/worker-config/contracts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { kinds, type Place } from "../test/kinds.ts";
import { createFileStore, type FileStore } from "./index.ts";

const hour = 3_600_000;
const note = { name: "note.txt", contentType: "text/plain; charset=utf-8" };
const unknownId = "file_0fffffff-ffff-8000-8000-000000000000";
const hostileIds = [
  "",
  "file_",
  "../secret",
  `${unknownId}/../x`,
  `${unknownId}\0`,
  unknownId.toUpperCase(),
  "__proto__",
];

describe.each(Object.entries(kinds))("in %s", (_, createPlace) => {
  let place: Place;
  let store: FileStore;

  beforeEach(async () => {
    place = await createPlace();
    store = createFileStore({ ...place.settings, maxBytes: 1_000_000 });
  });

  afterEach(() => place.remove());

  const read = async (fileId: string) => text((await store.open(fileId)).content);

  test("a streamed file comes out as it went in, with its description, for every process", async () => {
    const bytes = randomBytes(300_000);
    const chunks = [bytes.subarray(0, 1), bytes.subarray(1, 200_000), bytes.subarray(200_000)];
    const put = await store.put(Readable.from(chunks), { name: "a.bin", contentType: "application/pdf" });
    expect(fileReferenceSchema.parse(put)).toMatchObject({
      name: "a.bin",
      contentType: "application/pdf",
      bytes: 300_000,
    });
    const inAnother = createFileStore(place.settings);
    const { file, content } = await inAnother.open(put.fileId);
    expect(file).toEqual(put);
    expect((await buffer(content)).equals(bytes)).toBe(true);
    expect(await inAnother.stat(put.fileId)).toEqual(put);
  });

  test("a file that is put under an id of its own is there under it, and replaces what was", async () => {
    const stored = await store.put(Buffer.from("first"), note);
    const { fileId } = stored;
    expect(await store.put(Buffer.from("second"), { ...note, fileId })).toMatchObject({ fileId, bytes: 6 });
    expect(await read(fileId)).toBe("second");
    const over = "file_00000000-0000-8000-8000-000000000001";
    await expect(store.put(Buffer.from("x"), { ...note, fileId: over })).rejects.toMatchObject({
      code: "file_missing",
    });
    await expect(store.put(Buffer.from("x"), { ...note, fileId: "../x" })).rejects.toMatchObject({
      code: "invalid_file_id",
    });
  });

  test("an empty file is a file", async () => {
    const put = await store.put(new Uint8Array(), note);
    expect(put.bytes).toBe(0);
    expect(await read(put.fileId)).toBe("");
  });

  test("a file is gone when its time is over, before anybody sweeps", async () => {
    const { fileId } = await store.put(Buffer.from("brief"), { ...note, ttlMs: 50 });
    await vi.waitFor(() => expect(store.stat(fileId)).rejects.toMatchObject({ code: "file_missing" }), {
      timeout: 10_000,
      interval: 10,
    });
    await expect(store.open(fileId)).rejects.toMatchObject({ code: "file_missing", failureKind: "permanent" });
    expect(await store.delete(fileId)).toBe(false);
    expect(await place.contents()).toEqual([fileId]);
  });

  test("a sweep removes what is over, up to its limit, and leaves what is not or never will be", async () => {
    const put = (expiresAt: Date | null) => store.put(Buffer.from("x"), { ...note, expiresAt });
    const now = Date.now() + 2 * hour;
    for (let count = 0; count < 5; count++) await put(new Date(now - count));
    const later = await put(new Date(now + 1));
    const staying = await put(null);
    expect(staying.expiresAt).toBeNull();
    expect(await store.sweepExpired({ now, limit: 4 })).toEqual({ removed: 4, leftovers: 0, hasMore: true });
    expect(await store.sweepExpired({ now, limit: 4 })).toEqual({ removed: 1, leftovers: 0, hasMore: false });
    expect((await place.contents()).sort()).toEqual([later.fileId, staying.fileId]);
    expect(await read(staying.fileId)).toBe("x");
  });

  test("a file that is too large is refused on the way, its source let go, and nothing of it left", async () => {
    let isOpen = true;
    const endless = async function* () {
      try {
        while (true) yield Buffer.alloc(65_536);
      } finally {
        isOpen = false;
      }
    };
    await expect(store.put(endless(), note)).rejects.toMatchObject({
      code: "file_too_large",
      failureKind: "permanent",
    });
    await vi.waitFor(() => expect(isOpen).toBe(false), 10_000);
    expect(await place.contents()).toEqual([]);
    expect((await store.put(Buffer.alloc(1_000_000), note)).bytes).toBe(1_000_000);
  });

  test("an abort midway ends an upload that waits, and leaves nothing", async () => {
    const abort = new AbortController();
    const stalled = new Readable({ read() {} });
    stalled.push("the first half");
    const put = store.put(stalled, { ...note, signal: abort.signal });
    await vi.waitFor(() => expect(stalled.readableDidRead).toBe(true), { timeout: 10_000, interval: 5 });
    abort.abort(new Error("called off"));
    await expect(put).rejects.toThrow("called off");
    expect(stalled.destroyed).toBe(true);
    expect(await place.contents()).toEqual([]);
  });

  test("an error of the source is passed on as it is, and leaves nothing", async () => {
    const broken = async function* () {
      yield Buffer.from("the first half");
      throw new Error("the sender hung up");
    };
    await expect(store.put(broken(), note)).rejects.toThrow("the sender hung up");
    expect(await place.contents()).toEqual([]);
  });

  test("an abort ends a download", async () => {
    const { fileId } = await store.put(Buffer.alloc(900_000), note);
    const abort = new AbortController();
    const { content } = await store.open(fileId, { signal: abort.signal });
    abort.abort();
    await expect(buffer(content)).rejects.toThrow(/abort/);
  });

  test("many writers at once with one name have a file each", async () => {
    const words = Array.from({ length: 20 }, (_unused, index) => `word ${index}`);
    const put = await Promise.all(words.map((word) => store.put(Buffer.from(word), note)));
    expect(await Promise.all(put.map(({ fileId }) => read(fileId)))).toEqual(words);
  });

  test("a name is kept as it is and leads nowhere", async () => {
    const names = [
      "../../etc/passwd",
      "C:\\windows\\x",
      "a/b",
      '"; rm -rf',
      "<script>",
      "報".repeat(255),
      ".",
      "Grüße 👋.txt",
    ];
    for (const name of names) {
      const { fileId } = await store.put(Buffer.from("x"), { ...note, name });
      expect((await store.stat(fileId)).name).toBe(name);
    }
    expect(await place.contents()).toHaveLength(names.length);
  });

  test("a deleted file is gone, and deleting it again says so", async () => {
    const { fileId } = await store.put(Buffer.from("x"), note);
    expect(await store.delete(fileId)).toBe(true);
    expect(await store.delete(fileId)).toBe(false);
    await expect(store.open(fileId)).rejects.toMatchObject({ code: "file_missing" });
    expect(await place.contents()).toEqual([]);
  });

  test("an id that is none is refused before it leads anywhere", async () => {
    for (const fileId of hostileIds) {
      for (const ask of [store.open, store.stat, store.delete])
        await expect(ask(fileId)).rejects.toMatchObject({ code: "invalid_file_id", failureKind: "permanent" });
    }
  });

  test("a damaged file is no file to read, and can be deleted", async () => {
    const { fileId } = await store.put(Buffer.from("whole"), note);
    await place.damage(fileId);
    await expect(store.open(fileId)).rejects.toMatchObject({ code: "file_damaged" });
    await expect(store.stat(fileId)).rejects.toMatchObject({ code: "file_damaged" });
    expect(await store.delete(fileId)).toBe(true);
  });

  test("a store that is away says so, in a way that a job tries again", async () => {
    await store.check();
    await place.breakDown();
    const away = { code: "file_store_unavailable", failureKind: "transient" };
    await expect(store.check()).rejects.toMatchObject(away);
    await expect(store.put(Buffer.from("x"), note)).rejects.toMatchObject(away);
    await expect(store.open(unknownId)).rejects.toMatchObject(away);
    await expect(store.stat(unknownId)).rejects.toMatchObject(away);
    await expect(store.delete(unknownId)).rejects.toMatchObject(away);
    await expect(store.sweepExpired()).rejects.toMatchObject(away);
  });
});

test.each([
  ["no name", { name: "" }],
  ["a name too long", { name: "x".repeat(256) }],
  ["a name of two lines", { name: "a\r\nb" }],
  ["a name with a NUL", { name: "a\0" }],
  ["half a character", { name: "\ud800" }],
  ["a type that is none", { contentType: "pdf" }],
  ["a type of two lines", { contentType: "text/html\r\nx-evil: 1" }],
  ["an expiry in the past", { expiresAt: new Date(0) }],
  ["a lifetime of nothing", { ttlMs: 0 }],
  ["a lifetime beyond all time", { ttlMs: Number.MAX_SAFE_INTEGER }],
])("a file with %s is refused before its content is touched", async (_, flaw) => {
  const store = createFileStore({ location: { kind: "folder", folder: "/nowhere" } });
  const content = Readable.from([Buffer.from("x")]);
  await expect(store.put(content, { ...note, ...flaw })).rejects.toMatchObject({ code: "invalid_file" });
  expect(content.readableDidRead).toBe(false);
});
