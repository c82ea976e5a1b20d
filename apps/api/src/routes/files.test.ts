import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileReferenceSchema } from "@millrace/worker-config/contracts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { bearer, createTestApp, expectProblem } from "../../test/test-app.ts";

const maxFileBytes = 200_000;
let app: Awaited<ReturnType<typeof createTestApp>>;
let url: string;

beforeAll(async () => {
  app = await createTestApp({ maxPayloadBytes: 1_000, maxFileBytes });
  url = await app.listen({ port: 0, host: "127.0.0.1" });
});

afterAll(() => app.close());

const upload = (query: string, payload: Buffer | Readable | string, headers: Record<string, string> = {}) =>
  app.inject({ method: "POST", url: `/files${query}`, headers: { ...bearer, ...headers }, payload });
const read = (fileId: string) => app.inject({ url: `/files/${fileId}`, headers: bearer });
const stored = () => readdir(app.folder).catch(() => []);

/** An upload over a real connection whose body the test writes piece by piece. */
function startUpload(query = "?name=slow.bin") {
  const sending = request(`${url}/files${query}`, { method: "POST", headers: bearer });
  const answered = once(sending, "response").then(async ([response]) => ({
    status: response.statusCode,
    body: JSON.parse(await text(response)),
  }));
  return { sending, answered };
}

describe("a file", () => {
  test("larger than any job comes back byte for byte, as it was named, for saving", async () => {
    const bytes = randomBytes(150_000);
    const created = await upload("?name=r%C3%A9sum%C3%A9.pdf", bytes, { "content-type": "application/pdf" });
    expect(created.statusCode).toBe(201);
    const file = fileReferenceSchema.parse(created.json());
    expect(file).toMatchObject({ name: "résumé.pdf", contentType: "application/pdf", bytes: 150_000 });
    expect(created.headers.location).toBe(`/files/${file.fileId}`);
    const { rawPayload, headers, statusCode } = await read(file.fileId);
    expect(statusCode).toBe(200);
    expect(rawPayload.equals(bytes)).toBe(true);
    expect(headers).toMatchObject({
      "content-type": "application/pdf",
      "content-length": "150000",
      "content-disposition": `attachment; filename="r_sum_.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf`,
      "x-content-type-options": "nosniff",
    });
  });

  test.each([
    ["JSON", '{"broken": ', "application/json"],
    ["a page", "<script>alert(1)</script>", "text/html"],
    ["a form", "a=b&c=d", "application/x-www-form-urlencoded"],
    ["nothing", "", "text/plain"],
  ])("may be %s: nobody reads it", async (_, payload, contentType) => {
    const { fileId } = (await upload("?name=x", payload, { "content-type": contentType })).json();
    const { body, headers } = await read(fileId);
    expect([body, headers["content-type"]]).toEqual([payload, contentType]);
  });

  test("takes its name from the header where the query has none", async () => {
    const file = await upload("", "x", {
      "content-disposition": `attachment; filename="plain"; filename*=UTF-8''%E2%82%AC`,
    });
    expect(file.json()).toMatchObject({ name: "€", contentType: "application/octet-stream" });
    const plain = await upload("", "x", { "content-disposition": 'attachment; filename="a \\"b\\".txt"' });
    expect(plain.json().name).toBe('a "b".txt');
  });

  test("is saved under no path, whatever it is called", async () => {
    const { fileId, name } = (await upload(`?name=${encodeURIComponent('../a"; x=\\b')}`, "x")).json();
    expect(name).toBe('../a"; x=\\b');
    expect((await read(fileId)).headers["content-disposition"]).toBe(
      `attachment; filename=".._a_; x=_b"; filename*=UTF-8''.._a%22%3B%20x%3D_b`,
    );
  });

  test("is kept as long as its sender says", async () => {
    const { expiresAt } = (await upload("?name=x&ttlMs=60000", "x")).json();
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(60_000);
  });

  test("is deleted once", async () => {
    const { fileId } = (await upload("?name=x", "x")).json();
    const remove = () => app.inject({ method: "DELETE", url: `/files/${fileId}`, headers: bearer });
    expect((await remove()).statusCode).toBe(204);
    expectProblem(await remove(), 404, "file_missing");
    expectProblem(await read(fileId), 404, "file_missing");
  });
});

describe("an upload", () => {
  test("reaches the store while it is sent, and leaves nothing there when its sender hangs up", async () => {
    const before = await stored();
    const { sending, answered } = startUpload();
    answered.catch(() => {});
    sending.on("error", () => {});
    sending.write(Buffer.alloc(100_000));
    const part = async () => (await stored()).find((name) => name.endsWith(".part")) ?? expect.fail("no part yet");
    await vi.waitFor(async () => expect((await stat(join(app.folder, await part()))).size).toBe(100_000), 10_000);
    sending.destroy();
    await vi.waitFor(async () => expect(await stored()).toEqual(before), 10_000);
    expect(app.logged.join("")).not.toContain("request failed");
  });

  test("that grows too large is answered while it is sent, and leaves nothing", async () => {
    const before = await stored();
    const { sending, answered } = startUpload();
    for (let sent = 0; sent <= maxFileBytes; sent += 50_000) sending.write(Buffer.alloc(50_000));
    expect(await answered).toMatchObject({ status: 413, body: { code: "file_too_large" } });
    sending.destroy();
    expect(await stored()).toEqual(before);
  });

  test("that says it is too large is refused before it is sent", async () => {
    const sending = request(`${url}/files?name=x`, {
      method: "POST",
      headers: { ...bearer, "content-length": "200001", expect: "100-continue" },
    });
    sending.flushHeaders();
    const [response] = await once(sending, "response");
    expect(response.statusCode).toBe(413);
    sending.destroy();
  });

  test.each([
    ["without a name", "", {}, "invalid_file"],
    ["with a name of two lines", "?name=a%0Ab", {}, "invalid_file"],
    ["with a type that is none", "?name=x", { "content-type": "x/y\u00e4" }, "bad_request"],
    ["with a lifetime that is none", "?name=x&ttlMs=soon", {}, "invalid_request"],
  ])("%s is refused and stores nothing", async (_, query, headers, code) => {
    const before = await stored();
    const response = await upload(query, "MARKER", headers);
    expectProblem(response, code === "bad_request" ? 415 : 400, code);
    expect(await stored()).toEqual(before);
  });

  test("needs a key before a byte of it is read", async () => {
    const response = await app.inject({ method: "POST", url: "/files?name=x", payload: "x" });
    expectProblem(response, 401, "unauthorized");
  });
});

test.each(["..%2F..%2Fetc%2Fpasswd", "file_", "x%00", "FILE_0FFFFFFF-ffff-8000-8000-000000000000"])(
  "the id %s is refused and leads nowhere",
  async (fileId) => {
    for (const method of ["GET", "DELETE"] as const)
      expectProblem(await app.inject({ method, url: `/files/${fileId}`, headers: bearer }), 400, "invalid_file_id");
  },
);

test("a store that is away is a problem that passes, and its address stays in the log", async () => {
  await rm(app.folder, { recursive: true, force: true });
  await writeFile(app.folder, "");
  const fileId = "file_0fffffff-ffff-8000-8000-000000000000";
  for (const response of [
    await upload("?name=x", "x"),
    await read(fileId),
    await app.inject({ method: "DELETE", url: `/files/${fileId}`, headers: bearer }),
  ]) {
    expectProblem(response, 503, "file_store_unavailable");
    expect(response.headers["retry-after"]).toBe("2");
    expect(response.body).not.toContain(app.folder);
  }
  await rm(app.folder);
  expect((await upload("?name=x", "x")).statusCode).toBe(201);
});
