import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.ts";
import type { OnStarted } from "./keep-server.ts";
import type { RedisOrder } from "./redis-process.ts";

type ServerOrder = RedisOrder & { kind: "server" };

const attemptsToBind = 5;

/**
 * Runs a `redis-server` or `valkey-server` until it ends by itself or `ended` fires, which kills it.
 *
 * @returns why it ended
 * @throws Error when it did not come up
 */
export async function runRedisServer(order: ServerOrder, onStarted: OnStarted, ended: AbortSignal): Promise<string> {
  const dataDir = order.dataDir ?? (await mkdtemp(join(tmpdir(), "millrace-redis-")));
  try {
    return await runOnFreePort({ ...order, dataDir }, onStarted, ended);
  } finally {
    if (order.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  }
}

async function runOnFreePort(
  order: ServerOrder & { dataDir: string },
  onStarted: OnStarted,
  ended: AbortSignal,
): Promise<string> {
  // A free port can be taken by another program before the server has it.
  for (let attempt = 1; ; attempt += 1) {
    const port = order.port ?? (await freePort());
    const run = await runOnPort(order, port, onStarted, ended);
    if (run.wasReady || ended.aborted) return run.reason;
    const mayRetry = order.port === undefined && attempt < attemptsToBind && /address already in use/i.test(run.log);
    if (!mayRetry) throw new Error(`${order.command} ${run.reason} on port ${port}${run.log && `, after: ${run.log}`}`);
  }
}

async function runOnPort(
  order: ServerOrder & { dataDir: string },
  port: number,
  onStarted: OnStarted,
  ended: AbortSignal,
): Promise<{ wasReady: boolean; reason: string; log: string }> {
  const server = spawn(order.command, serverFlags(order, port), {
    stdio: ["ignore", "pipe", "ignore"],
    // A group of its own: the terminal's signals must not reach it either.
    detached: true,
    signal: ended,
    // A frozen server ends too, and what it has written to its append-only file is with the kernel already.
    killSignal: "SIGKILL",
  });
  let wasReady = false;
  let log: readonly string[] = [];
  createInterface(server.stdout).on("line", (line) => {
    log = [...log, line].slice(-5);
    if (wasReady || !line.includes("Ready to accept connections")) return;
    wasReady = true;
    // A server that logs is running and so has a pid.
    void onStarted({ kind: "started", port, pid: server.pid as number });
  });
  const reason = await new Promise<string>((resolve) => {
    // Being told to end is an error to spawn too; then the close that follows counts.
    server.on("error", (error) => ended.aborted || resolve(`did not start: ${error.message}`));
    server.on("close", (code, signal) => resolve(`ended with ${signal ?? `code ${code}`}`));
  });
  return { wasReady, reason, log: log.join(" | ") };
}

function serverFlags({ appendOnly, dataDir, inCluster }: ServerOrder & { dataDir: string }, port: number): string[] {
  const flags = {
    port: String(port),
    bind: "127.0.0.1",
    "protected-mode": "yes",
    dir: dataDir,
    save: "",
    appendonly: appendOnly ? "yes" : "no",
    "maxmemory-policy": "noeviction",
    // A test may take slots away: the node goes on with the others.
    ...(inCluster && { "cluster-enabled": "yes", "cluster-require-full-coverage": "no" }),
  };
  return Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
}
