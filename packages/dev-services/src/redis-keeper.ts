/**
 * The process that holds a development Redis: the embedded server in itself, or a real one as its child.
 *
 * It stands between, because a Ctrl-C in a terminal reaches the whole process group and Redis must outlive the workers: this process
 * ignores signals and ends when its parent says so or is gone, however the parent died.
 */
import type { KeeperAnswer, KeeperOrder } from "./redis-keeper-protocol.ts";
import { runRedisServer } from "./redis-keeper-server.ts";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

const ending = new AbortController();
process.on("disconnect", () => ending.abort());
process.on("message", (order: KeeperOrder) => {
  if (order.kind === "end") ending.abort();
  else void hold(order);
});

async function hold(order: Exclude<KeeperOrder, { kind: "end" }>): Promise<void> {
  try {
    const reason =
      order.kind === "server"
        ? await runRedisServer(order, answer, ending.signal)
        : await runEmbedded(order, answer, ending.signal);
    await answer({ kind: "ended", reason });
  } catch (error) {
    await answer({ kind: "ended", reason: error instanceof Error ? error.message : String(error) });
  }
  // The embedded server's own close waits for its clients to leave, which they do not.
  process.exit(0);
}

async function runEmbedded(
  order: KeeperOrder & { kind: "embedded" },
  onStarted: (answer: KeeperAnswer) => Promise<void>,
  ended: AbortSignal,
): Promise<string> {
  // A real server needs none of it, and it takes a moment to load.
  const { createRedisServer } = await import("js-redis-server");
  const { port } = await createRedisServer({ port: order.port ?? 0, compatibility: "redis-7.2" });
  await onStarted({ kind: "started", port, pid: process.pid });
  await new Promise((resolve) => ended.addEventListener("abort", resolve));
  return "it was told to";
}

/** Resolves when the message is on its way; a parent that is gone needs none. */
async function answer(message: KeeperAnswer): Promise<void> {
  await new Promise<void>((sent) => {
    if (process.connected) process.send?.(message, () => sent());
    else sent();
  });
}
