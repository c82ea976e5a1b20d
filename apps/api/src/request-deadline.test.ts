import { once } from "node:events";
import { connect } from "node:net";
import { listAuditEntries } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { closeQueues, emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { reserveRedis } from "../test/own-redis.ts";
import { apiKey, bearer, createTestApp, mail } from "../test/test-app.ts";

const { database } = useDatabase();
const ended = vi.fn();
let app: Awaited<ReturnType<typeof createTestApp>>;
let port: number;
let origin: string;
let letGo: () => void = () => {};

beforeAll(async () => {
  const tracing = { startRequest: () => ({ run: (work: () => void) => work(), end: ended }) };
  app = await createTestApp({ database: database(), requestTimeoutMs: 300, tracing });
  const held = (audit?: "test.held") => ({
    config: { access: "admin" as const, ...(audit ? { audit } : { notAudited: "A test's." }) },
  });
  const hold = () => new Promise<{ done: boolean }>((resolve) => (letGo = () => resolve({ done: true })));
  app.post("/held", held(), hold);
  app.post("/held/audited", { ...held("test.held"), handlerTimeout: 200 }, hold);
  app.post("/held/long", { ...held("test.held"), handlerTimeout: 60_000 }, hold);
  origin = await app.listen({ host: "127.0.0.1", port: 0 });
  port = Number(new URL(origin).port);
});
afterEach(() => letGo());
afterAll(async () => {
  await app.close();
  await closeQueues();
});

// Over a connection, where a request that has been read is closed.
const post = (path: string, to = origin) =>
  fetch(`${to}${path}`, { method: "POST", headers: { ...bearer, "content-type": "application/json" }, body: "{}" });
const outcomes = async () => (await listAuditEntries(database(), { limit: 1, action: "test.held" }))[0];
const loggedOf = (path: string) => app.logged.map((line) => JSON.parse(line)).filter((line) => line.path === path);

test("a request with a body is answered within its time, whatever its handler waits for", async () => {
  const response = await post("/held");
  expect([response.status, await response.json()]).toMatchObject([503, { code: "timeout" }]);
  expect(response.headers.get("retry-after")).toBe("2");
});

test("a body that comes byte by byte is not waited for, and its connection is closed", async () => {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    answer += chunk;
  });
  // A byte that drips after the close is an error, and no reason to lose the answer.
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.on("close", resolve));
  const head = `POST /held HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: 1000\r\n\r\n`);
  const drip = setInterval(() => socket.write(" "), 20);
  await closed;
  clearInterval(drip);
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
  expect(answer).toContain('"code":"request_timeout"');
  // Where somebody was answered before the body had come, the server's own time for it is what ends the connection.
  expect(app.server.requestTimeout).toBe(960_000);
});

test("a change that waits for a Redis that is away is answered as well", async () => {
  const redis = await reserveRedis();
  vi.stubEnv("REDIS_URL", redis.url);
  const without = await createTestApp({ database: database(), requestTimeoutMs: 300 });
  const response = await post("/owners/x/block", await without.listen({ host: "127.0.0.1", port: 0 }));
  expect([response.status, await response.json()]).toMatchObject([503, { code: "timeout" }]);
  vi.unstubAllEnvs();
  await without.close();
});

test("the audit log says how an action ended that went on after its caller was told that it takes too long", async () => {
  expect((await post("/held/audited")).status).toBe(503);
  expect(await outcomes()).toMatchObject({ outcome: undefined });
  letGo();
  await expect.poll(outcomes).toMatchObject({ outcome: "done", status: 200 });
});

test("a caller that leaves leaves a line in the log, the end of a span and, once it has ended, the outcome", async () => {
  ended.mockClear();
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const head = `POST /held/long HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiKey}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: 2\r\n\r\n{}`);
  await expect.poll(outcomes).toMatchObject({ outcome: undefined });
  socket.destroy();
  await expect.poll(() => loggedOf("/held/long")).toMatchObject([{ status: 499, durationMs: expect.any(Number) }]);
  expect(ended.mock.calls).toEqual([[499]]);
  letGo();
  await expect.poll(outcomes).toMatchObject({ outcome: "done", status: 200 });
});

test("a reader of a job's events that leaves is in the log too", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { delayMs: 3_600_000 });
  const path = `/jobs/email/${jobId}/events`;
  const leaving = new AbortController();
  const response = await fetch(`${origin}${path}`, { headers: bearer, signal: leaving.signal });
  expect(response.status).toBe(200);
  leaving.abort();
  await expect.poll(() => loggedOf(path)).toMatchObject([{ status: 499 }]);
  await emailQueue.remove(jobId);
});
