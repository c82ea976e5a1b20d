/** The process that holds a development Redis: the embedded server in itself, or a real one as its child. */
import { keepServer, type OnStarted } from "./keep-server.ts";
import { runRedisServer } from "./redis-keeper-server.ts";
import type { RedisOrder } from "./redis-process.ts";

keepServer<RedisOrder>((order, onStarted, ended) =>
  order.kind === "server" ? runRedisServer(order, onStarted, ended) : runEmbedded(order.port, onStarted, ended),
);

async function runEmbedded(wantedPort: number | undefined, onStarted: OnStarted, ended: AbortSignal): Promise<string> {
  // A real server needs none of it, and it takes a moment to load.
  const { createRedisServer } = await import("js-redis-server");
  const { port } = await createRedisServer({ port: wantedPort ?? 0, compatibility: "redis-7.2" });
  await onStarted({ kind: "started", port, pid: process.pid });
  await new Promise((resolve) => ended.addEventListener("abort", resolve));
  return "it was told to";
}
