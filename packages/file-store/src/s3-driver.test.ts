import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type S3Server, startS3Server } from "../test/s3-server.ts";
import { createFileStore, type FileStore } from "./index.ts";
import { createS3Client } from "./s3-client.ts";

const note = { name: "note.txt", contentType: "text/plain" };
const away = { code: "file_store_unavailable", failureKind: "transient" };
let server: S3Server;
let store: FileStore;

beforeEach(async () => {
  server = await startS3Server();
  store = createFileStore(server.settings);
});

afterEach(() => server.stop());

const withSettings = (change: Partial<S3Server["settings"]>) => createFileStore({ ...server.settings, ...change });

test("wrong keys are said to be wrong, and not repeated", async () => {
  const secretAccessKey = "not the secret";
  for (const [credentials, code] of [
    [{ ...server.settings.credentials, secretAccessKey }, "SignatureDoesNotMatch"],
    [{ accessKeyId: "ANOTHER", secretAccessKey }, "InvalidAccessKeyId"],
  ] as const) {
    const error = await withSettings({ credentials })
      .put(Buffer.from("x"), note)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ ...away, message: expect.stringContaining(`403 ${code}`) });
    expect(String(error)).not.toContain(secretAccessKey);
  }
  expect(server.objects.size).toBe(0);
});

test("a bucket that is not there is no file that is gone for good", async () => {
  const { fileId } = await store.put(Buffer.from("x"), note);
  const elsewhere = withSettings({ location: { ...server.settings.location, bucket: "another-bucket" } });
  for (const ask of [elsewhere.open, elsewhere.stat, elsewhere.delete])
    await expect(ask(fileId)).rejects.toMatchObject(away);
});

test("a sweep goes through its pages, and asks for none beyond the first file that is not over", async () => {
  const now = Date.now() + 3_600_000;
  const put = (expiry: number) => store.put(Buffer.from("x"), { ...note, expiresAt: new Date(expiry) });
  for (let count = 0; count < 7; count++) await put(now - count);
  for (let count = 1; count < 7; count++) await put(now + count);
  server.objects.set("uploads/file_of-somebody-else", { body: Buffer.from("x"), metadata: undefined });
  server.requests.length = 0;
  expect(await store.sweepExpired({ now })).toEqual({ removed: 7, leftovers: 0, hasMore: false });
  expect(server.objects.size).toBe(7);
  const lists = server.requests.filter((request) => request.includes("list-type=2"));
  expect(lists).toHaveLength(3);
  expect(new Set(lists).size).toBe(3);
});

test.each([
  [500, "InternalError"],
  [503, "SlowDown"],
  [301, "PermanentRedirect"],
])("an answer of %i is asked for once and tried again by the job", async (status, code) => {
  const { fileId } = await store.put(Buffer.from("x"), note);
  server.fault = { status, code };
  const message = expect.stringContaining(String(status));
  await expect(store.put(Buffer.from("x"), note)).rejects.toMatchObject({ ...away, message });
  await expect(store.open(fileId)).rejects.toMatchObject({ ...away, message });
  server.fault = undefined;
  expect((await store.stat(fileId)).bytes).toBe(1);
});

test("a server that takes a request and says nothing is given up", async () => {
  server.fault = "silent";
  const send = createS3Client(server.settings.location, server.settings.credentials, 100);
  await expect(send({ method: "GET" })).rejects.toMatchObject(away);
});

test("an abort ends a question that nobody answers, with its own reason", async () => {
  server.fault = "silent";
  const abort = new AbortController();
  const put = store.put(Buffer.from("x"), { ...note, signal: abort.signal });
  await vi.waitFor(() => expect(server.requests).toHaveLength(1), { timeout: 10_000, interval: 5 });
  abort.abort(new Error("called off"));
  await expect(put).rejects.toThrow("called off");
});

test("what a public bucket would serve is bytes, and no page of a sender's", async () => {
  const { fileId } = await store.put(Buffer.from("<script>"), { name: "a.html", contentType: "text/html" });
  expect((await store.stat(fileId)).contentType).toBe("text/html");
  expect(server.objects.get(`uploads/${fileId}`)?.contentType).toBe("application/octet-stream");
});
