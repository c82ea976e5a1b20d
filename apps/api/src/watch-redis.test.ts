import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { closeQueues } from "@millrace/worker-config";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { reserveRedis } from "../test/own-redis.ts";
import { createTestApp } from "../test/test-app.ts";
import { pingRedis, watchRedis } from "./watch-redis.ts";

const redis = await reserveRedis();
const sockets: Socket[] = [];
/** What lies between a process and its Redis, and forgets a connection without telling anybody. */
const between = createServer((socket) => {
  const { hostname, port } = new URL(redis.url);
  const onward = connect(Number(port), hostname);
  for (const end of [socket, onward]) end.on("error", () => end.destroy());
  socket.pipe(onward).pipe(socket);
  sockets.push(socket, onward);
});

beforeAll(async () => {
  await redis.start();
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
  const address = between.address();
  if (address === null || typeof address === "string") throw new Error("expected a port");
  vi.stubEnv("REDIS_URL", `redis://127.0.0.1:${address.port}`);
});
afterAll(async () => {
  await closeQueues();
  for (const socket of sockets) socket.destroy();
  between.close();
  await redis.kill();
  vi.unstubAllEnvs();
});

test("a connection that is never answered any more, while Redis is there, is a reason for a new process; an outage is none", async () => {
  await pingRedis();
  const watch = watchRedis(20);
  const app = await createTestApp({ isWedged: watch.isWedged });
  const live = async () => {
    const { statusCode, body } = await app.inject({ url: "/livez" });
    return [statusCode, body];
  };
  redis.freeze();
  await expect(pingRedis()).rejects.toThrow();
  expect(await live()).toEqual([200, '{"status":"ok"}']);
  redis.unfreeze();
  await expect.poll(() => pingRedis().then(() => "answered")).toBe("answered");
  for (const socket of sockets.splice(0)) socket.unpipe().pause();
  await expect.poll(live, { timeout: 10_000 }).toEqual([503, '{"status":"wedged"}']);
  watch.close();
  await app.close();
});
