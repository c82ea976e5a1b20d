import { type DevRedis, freePort, startRedis } from "@millrace/dev-services";

/** A Redis that is not there yet, and that a test brings, freezes and takes away, always on the same port. */
export interface OwnRedis {
  readonly url: string;
  start(): Promise<void>;
  /** As a machine that loses its power. */
  kill(): Promise<void>;
  /** It holds its connections and answers nothing. */
  freeze(): void;
  unfreeze(): void;
}

export async function reserveRedis(): Promise<OwnRedis> {
  const port = await freePort();
  let running: DevRedis | undefined;
  const signal = (name: NodeJS.Signals) => {
    if (running?.pid !== undefined) process.kill(running.pid, name);
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    start: async () => {
      running = await startRedis({ port });
    },
    kill: async () => {
      const { pid, exited } = running ?? {};
      if (pid === undefined) return;
      running = undefined;
      process.kill(pid, "SIGKILL");
      await exited;
    },
    freeze: () => signal("SIGSTOP"),
    unfreeze: () => signal("SIGCONT"),
  };
}
