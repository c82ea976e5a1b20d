import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { inspect } from "node:util";
import type { Redis } from "ioredis";
import { afterEach, expect, test, vi } from "vitest";
import { createRedis } from "./create-redis.ts";

const { REDIS_URL = "" } = process.env;
const clients: Redis[] = [];
const servers: Server[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
  for (const server of servers.splice(0)) server.close();
});

const create = (role: Parameters<typeof createRedis>[0], url: string, onOutage: (error: Error) => void) => {
  const client = createRedis(role, url, onOutage);
  clients.push(client);
  return client;
};

/** A way to the tests' Redis that can be taken away and given back. */
async function wayToRedis(): Promise<{ url: string; cut(): Promise<void>; restore(): Promise<void> }> {
  const { hostname, port } = new URL(REDIS_URL);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const redis = connect(Number(port), hostname);
    for (const socket of [client, redis]) sockets.add(socket.on("error", () => {}));
    client.pipe(redis).pipe(client);
  });
  servers.push(server);
  const listen = async (at: number) => {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
    // A server that listens on host and port has an address of this form.
    return (server.address() as AddressInfo).port;
  };
  const proxyPort = await listen(0);
  return {
    url: `redis://127.0.0.1:${proxyPort}`,
    cut: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await closed;
    },
    restore: async () => void (await listen(proxyPort)),
  };
}

const attempts = (client: Redis, count: number) => {
  let seen = 0;
  return new Promise<void>((resolve) => {
    client.on("reconnecting", () => {
      seen += 1;
      if (seen === count) resolve();
    });
  });
};

test("an outage is told once, however many attempts fail, and again only after the client was ready in between", async () => {
  const way = await wayToRedis();
  const outages: Error[] = [];
  const client = create("worker", way.url, (error) => outages.push(error));
  expect(await client.ping()).toBe("PONG");
  expect(outages).toEqual([]);

  for (const round of [1, 2]) {
    const fourAttempts = attempts(client, 4);
    await way.cut();
    await fourAttempts;
    expect(outages).toHaveLength(round);
    const ready = once(client, "ready");
    await way.restore();
    await ready;
    expect(await client.ping()).toBe("PONG");
  }
  expect(outages.map((error) => "code" in error && error.code)).toEqual(["ECONNREFUSED", "ECONNREFUSED"]);
});

test("a Redis that was never there is told once too, and the client connects by itself when it comes", async () => {
  const way = await wayToRedis();
  await way.cut();
  const outages: Error[] = [];
  const client = create("events", way.url, (error) => outages.push(error));
  await attempts(client, 3);
  expect(outages).toHaveLength(1);
  await way.restore();
  expect(await client.ping()).toBe("PONG");
});

test("during an outage a producer's command fails at once, and a worker's command waits for the return", async () => {
  const way = await wayToRedis();
  const [producer, worker] = (["producer", "worker"] as const).map((role) => create(role, way.url, () => {}));
  await vi.waitFor(() => expect([producer?.status, worker?.status]).toEqual(["ready", "ready"]), 10_000);
  const lost = Promise.all([once(producer as Redis, "close"), once(worker as Redis, "close")]);
  await way.cut();
  await lost;
  await expect(producer?.ping()).rejects.toThrow("Stream isn't writeable");
  const waiting = worker?.ping();
  await way.restore();
  expect(await waiting).toBe("PONG");
});

test("the password reaches Redis, and is nowhere in the error of a Redis that refuses it", async () => {
  let sent = "";
  const server = createServer((client) => {
    client.on("error", () => {});
    client.on("data", (data) => {
      sent += data;
      const commands = String(data).match(/\*\d+\r\n/g)?.length ?? 0;
      client.write("-WRONGPASS invalid username-password pair or user is disabled.\r\n".repeat(commands));
    });
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  // A server that listens on host and port has an address of this form.
  const { port } = server.address() as AddressInfo;
  const error = await new Promise((resolve) => create("worker", `redis://ada:hunter2@127.0.0.1:${port}`, resolve));
  expect(sent).toContain("hunter2");
  expect(String(error)).toContain("ReplyError: WRONGPASS");
  expect(inspect(error, { depth: 10 })).not.toContain("hunter2");
});
