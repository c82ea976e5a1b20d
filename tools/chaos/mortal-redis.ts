import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type DevRedis, type DevRedisOptions, startRedis } from "@millrace/dev-services";
import { Redis } from "ioredis";

/** A Redis of the run's own, which dies and comes back with its data, on its port. */
export interface MortalRedis {
  readonly url: string;
  readonly kind: DevRedis["kind"];
  /** Whether its data outlives it. */
  readonly canRestart: boolean;
  /** For questions about the run. Waits out an outage. */
  readonly client: Redis;
  /** Ends the server by SIGTERM or SIGKILL, and starts it again `downMs` later. */
  restart(how: "shutdown" | "kill", downMs: number): Promise<void>;
  /** Closes every connection but this one's. Does nothing while the server is down. */
  cutClients(): Promise<void>;
  /** Rejects when the server ends and nobody told it to. */
  readonly crashed: Promise<never>;
  readonly counts: { shutdowns: number; kills: number; connectionsCut: number };
  stop(): Promise<void>;
}

export async function startMortalRedis(choice: NonNullable<DevRedisOptions["choice"]>): Promise<MortalRedis> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-chaos-"));
  const crash = Promise.withResolvers<never>();
  // Whoever waits hears of it; a run that has ended does not.
  crash.promise.catch(() => {});
  const counts = { shutdowns: 0, kills: 0, connectionsCut: 0 };
  let isDown = false;
  let isStopped = false;
  let restarting = Promise.resolve();

  const start = async (port: number): Promise<DevRedis> => {
    const redis = await startRedis({ choice, dataDir, appendOnly: true, port });
    void redis.exited.then((reason) => isDown || crash.reject(new Error(`${reason}.`)));
    return redis;
  };
  let server = await onLowPort(start).catch(async (error: unknown) => {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  });
  const { url, kind } = server;
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  client.on("error", () => {});
  const canRestart = kind !== "embedded";
  // Otherwise a kill forgets what was acknowledged in the last second, and the run would blame the queue for it.
  const makeDurable = async () => canRestart && client.config("SET", "appendfsync", "always");
  await makeDurable();

  async function restart(how: "shutdown" | "kill", downMs: number): Promise<void> {
    if (server.pid === undefined) throw new Error("expected a Redis of our own");
    isDown = true;
    process.kill(server.pid, how === "kill" ? "SIGKILL" : "SIGTERM");
    await server.exited;
    await wait(downMs);
    if (isStopped) return;
    server = await start(Number(new URL(url).port));
    isDown = isStopped;
    await makeDurable();
    counts[how === "kill" ? "kills" : "shutdowns"] += 1;
  }

  return {
    url,
    kind,
    canRestart,
    client,
    crashed: crash.promise,
    counts,
    restart: (how, downMs) => {
      restarting = restart(how, downMs);
      return restarting;
    },
    cutClients: async () => {
      if (isDown) return;
      const own = await client.client("ID");
      // One by one, and not by type: listeners are cut as well, and the embedded server knows no types.
      const ids = [...String(await client.client("LIST")).matchAll(/^id=(\d+) /gm)].map(([, id]) => Number(id));
      const others = ids.filter((id) => id !== own);
      const cut = await Promise.all(others.map((id) => client.client("KILL", "ID", id)));
      counts.connectionsCut += cut.filter((killed) => killed === 1).length;
    },
    stop: async () => {
      isDown = true;
      isStopped = true;
      client.disconnect();
      await restarting.catch(() => {});
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const portsTried = 10;

/**
 * Below the ports that systems hand out by themselves: a client that dials such a port while its server is down can be given that very
 * port, is connected to itself, and the server cannot come back.
 */
async function onLowPort(start: (port: number) => Promise<DevRedis>): Promise<DevRedis> {
  for (let attempt = 1; ; attempt += 1) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    try {
      return await start(port);
    } catch (error) {
      const isTaken = error instanceof Error && /address already in use|EADDRINUSE/i.test(error.message);
      if (!isTaken || attempt === portsTried) throw error;
    }
  }
}
