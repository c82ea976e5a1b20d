/**
 * The process that holds a development Redis: the embedded server in itself, or a `redis-server` as its child.
 *
 * It stands between, because a Ctrl-C in a terminal reaches the whole process group and Redis must outlive the workers: this process
 * ignores signals and ends when its parent says so or is gone, however the parent died.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import type { KeeperAnswer, KeeperOrder } from "./redis-keeper-protocol.ts";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

let server: ChildProcess | undefined;

function end(): void {
  server?.kill("SIGKILL");
  // The embedded server's own close waits for its clients to leave, which they do not.
  process.exit(0);
}

function answer(message: KeeperAnswer): void {
  process.send?.(message);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  probe.listen(0, "127.0.0.1", resolve);
  await promise;
  // A server that listens on host and port has an address of this form.
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

async function startServer({
  command,
  dataDir,
  appendOnly,
  port: wanted,
}: KeeperOrder & { kind: "server" }): Promise<void> {
  const port = wanted ?? (await freePort());
  const persistence = appendOnly ? ["--appendonly", "yes", "--appendfsync", "everysec"] : ["--appendonly", "no"];
  const flags = [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    dataDir,
    "--save",
    "",
    "--maxmemory-policy",
    "noeviction",
  ];
  // A group of its own: the terminal's signals must not reach it either.
  server = spawn(command, [...flags, ...persistence], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  server.once("error", (error) => answer({ kind: "failed", reason: error.message }));
  server.once("exit", (code, signal) => {
    answer({ kind: "failed", reason: `${command} ended with ${signal ?? `code ${code}`}` });
    process.exit(1);
  });
  // Nobody reads its log; a full pipe would stop it.
  server.stdout?.resume();
  answer({ kind: "started", port, pid: server.pid ?? 0 });
}

async function startEmbedded({ port: wanted }: KeeperOrder & { kind: "embedded" }): Promise<void> {
  // A real server needs none of it, and it takes a moment to load.
  const { createRedisServer } = await import("js-redis-server");
  const { port } = await createRedisServer({ port: wanted ?? 0, compatibility: "redis-7.2" });
  answer({ kind: "started", port, pid: process.pid });
}

process.on("disconnect", end);
process.on("message", (order: KeeperOrder) => {
  const started =
    order.kind === "server" ? startServer(order) : order.kind === "embedded" ? startEmbedded(order) : end();
  started?.catch((error: unknown) => {
    answer({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
    end();
  });
});
