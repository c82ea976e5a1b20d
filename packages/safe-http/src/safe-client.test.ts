import { once } from "node:events";
import { beforeAll, expect, test } from "vitest";
import { startServer, startTcpServer } from "../test/start-server.ts";
import { createSafeClient } from "./safe-client.ts";

const request = createSafeClient({ allowPrivate: true });
let url: string;

beforeAll(async () => {
  const server = await startServer((incoming, response) => {
    switch (incoming.url?.split("?")[0]) {
      case "/large":
        response.write(Buffer.alloc(1_000_000, "x"));
        // It goes on for ever.
        response.on("drain", () => response.write(Buffer.alloc(1_000_000, "x")));
        return;
      case "/echo":
        response.setHeader("x-seen", [
          String(incoming.method),
          String(incoming.headers["accept-encoding"]),
          String(incoming.headers.host),
        ]);
        return void incoming.pipe(response);
      case "/drip": {
        const timer = setInterval(() => response.write("x"), 20);
        response.on("close", () => clearInterval(timer));
        return;
      }
      case "/port":
        return void response.end(String(incoming.socket.remotePort));
      case "/long-header":
        return void response.setHeader("x-long", "x".repeat(20_000)).end();
      default:
        return;
    }
  });
  url = `http://127.0.0.1:${server.port}`;
});

test("what was sent arrives, without headers that are not its sender's to choose, and the answer comes back with its status and headers", async () => {
  const response = await request(`${url}/echo?a=b`, {
    method: "POST",
    headers: { "Accept-Encoding": "gzip", Host: "other.example", Connection: "upgrade" },
    body: "Grüße",
  });
  expect(response).toMatchObject({
    status: 200,
    truncated: false,
    headers: { "x-seen": `POST, identity, ${new URL(url).host}` },
  });
  expect(response.body.toString()).toBe("Grüße");
  expect(response.durationMs).toBeLessThan(5_000);
});

test("a body without end is cut at its bound, and the connection with it", async () => {
  const response = await request(`${url}/large`, { maxBytes: 100_001 });
  expect([response.body.length, response.truncated]).toEqual([100_001, true]);
  expect((await request(`${url}/echo`, { method: "POST", body: "12345", maxBytes: 5 })).truncated).toBe(false);
});

test.each(["/silent", "/drip"])("the deadline is for everything: %s ends at it", async (path) => {
  const startedAt = performance.now();
  await expect(request(`${url}${path}`, { deadlineMs: 200 })).rejects.toMatchObject({ code: "timeout" });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test("the deadline holds for a name that is never answered as well", async () => {
  const never = createSafeClient({ resolve: () => new Promise(() => {}) });
  await expect(never("http://slow.example/", { deadlineMs: 100 })).rejects.toMatchObject({ code: "timeout" });
});

test("the caller's signal ends the request with the caller's reason", async () => {
  const controller = new AbortController();
  const asked = request(`${url}/silent`, { signal: controller.signal });
  controller.abort(new Error("called off"));
  await expect(asked).rejects.toThrow("called off");
  await expect(request(`${url}/echo`, { signal: controller.signal })).rejects.toThrow("called off");
});

test("each request has a connection of its own", async () => {
  const ports = [];
  for (let count = 0; count < 3; count++) ports.push((await request(`${url}/port`)).body.toString());
  expect(new Set(ports).size).toBe(3);
});

test("nobody there, a broken connection, no TLS and no HTTP are told apart, and nothing of the answer is repeated", async () => {
  const secret = "SECRET-OF-THE-OTHER-SIDE";
  const noHttp = await startTcpServer((socket) => once(socket, "data").then(() => socket.end(`${secret}\r\n\r\n`)));
  const broken = await startTcpServer((socket) => once(socket, "data").then(() => socket.destroy()));
  const codes = [];
  for (const target of [
    "http://127.0.0.1:1024",
    `http://127.0.0.1:${broken}`,
    `https://127.0.0.1:${noHttp}`,
    `http://127.0.0.1:${noHttp}`,
    `${url}/long-header`,
  ]) {
    const error = await request(target).catch((thrown: unknown) => thrown);
    expect(String(error)).not.toContain(secret);
    expect(error).toMatchObject({ name: "SafeHttpError" });
    expect(error).not.toHaveProperty("cause");
    codes.push(error instanceof Error && "code" in error ? error.code : error);
  }
  expect(codes).toEqual([
    "connection_failed",
    "connection_failed",
    "tls_failed",
    "invalid_response",
    "invalid_response",
  ]);
});
