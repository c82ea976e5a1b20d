import type { KeeperAnswer, KeeperOrder } from "./keeper.ts";

export type OnStarted = (answer: KeeperAnswer & { kind: "started" }) => Promise<void>;

/**
 * The keeper's side: the process that holds a server for development, in itself or as its child.
 *
 * It stands between, because a Ctrl-C in a terminal reaches the whole process group and the servers must outlive the workers: this
 * process ignores signals and ends when its parent says so or is gone, however the parent died.
 *
 * @param run runs the server until it ends by itself or `ended` fires, and returns why it ended
 */
export function keepServer<Order>(
  run: (order: Order, onStarted: OnStarted, ended: AbortSignal) => Promise<string>,
): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  const ending = new AbortController();
  process.on("disconnect", () => ending.abort());
  process.on("message", async (message: KeeperOrder<Order>) => {
    if (message.kind === "end") return ending.abort();
    const reason = await run(message.order, answer, ending.signal).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error),
    );
    await answer({ kind: "ended", reason });
    // A server in this process may not end by itself: the embedded Redis waits for its clients to leave, which they do not.
    process.exit(0);
  });
}

/** Resolves when the message is on its way; a parent that is gone needs none. */
async function answer(message: KeeperAnswer): Promise<void> {
  await new Promise<void>((sent) => {
    if (process.connected) process.send?.(message, () => sent());
    else sent();
  });
}
