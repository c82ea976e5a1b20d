import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { redisConnectionOptions } from "./connection-options.ts";
import { createRedis } from "./create-redis.ts";
import { readRedisEnv } from "./env.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** A name that leads to a replica at first, which refuses what is written, and to its primary after the failover. Counts connections. */
async function startFailover() {
  const { host, port } = redisConnectionOptions("worker", readRedisEnv().REDIS_URL);
  const sockets = new Set<Socket>();
  const state = { isOver: false, connections: 0 };
  const server = createServer((client) => {
    state.connections += 1;
    const isReplica = !state.isOver;
    const primary = connect(port, host);
    for (const socket of [client, primary]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [client, primary].map((either) => either.destroy()));
    }
    client.on("data", (chunk) => {
      if (isReplica && /\r\nset\r\n/i.test(chunk.toString()))
        client.write("-READONLY You can't write against a read only replica.\r\n");
      else primary.write(chunk);
    });
    primary.pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUps.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  // A server that listens on host and port has an address of this form.
  return { state, url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function open(role: "worker" | "producer", url: string) {
  const redis = createRedis(role, url, () => {});
  cleanUps.push(() => redis.disconnect());
  await once(redis, "ready");
  return redis;
}

test("a worker's write that the old primary refuses reaches the new one", async () => {
  const { state, url } = await startFailover();
  const redis = await open("worker", url);
  state.isOver = true;
  expect(await redis.set("failed-over", "yes", "EX", 60)).toBe("OK");
});

test("a producer's write that the old primary refuses is an error, and a later one reaches the new one", async () => {
  const { state, url } = await startFailover();
  const redis = await open("producer", url);
  state.isOver = true;
  await expect(redis.set("failed-over", "yes", "EX", 60)).rejects.toThrow(/^READONLY/);
  await expect.poll(() => redis.set("failed-over", "yes", "EX", 60).catch(() => "no"), { timeout: 5_000 }).toBe("OK");
});

test("a replica that stays one is not stormed with connections", async () => {
  const { state, url } = await startFailover();
  const redis = await open("worker", url);
  const written = redis.set("failed-over", "yes", "EX", 60);
  written.catch(() => {});
  const begunAt = performance.now();
  await expect.poll(() => state.connections, { timeout: 5_000 }).toBe(3);
  expect(performance.now() - begunAt).toBeGreaterThan(900);
  state.isOver = true;
  expect(await written).toBe("OK");
});
