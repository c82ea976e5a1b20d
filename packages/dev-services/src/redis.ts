import { StartError } from "@millrace/env";
import { readSearchPath } from "./env.ts";
import type { KeptServer } from "./keeper.ts";
import { maskCredentials } from "./mask-credentials.ts";
import { findRedisOnPath, type RedisOnPath } from "./redis-on-path.ts";
import { pingRedis } from "./redis-ping.ts";
import { startRedisProcess } from "./redis-process.ts";

export interface DevRedis {
  /** What clients connect to. May hold the credentials of REDIS_URL; `reason` never does. */
  readonly url: string;
  readonly kind: "configured" | "redis-server" | "valkey-server" | "embedded";
  /** One sentence for the start line, without its full stop: which Redis this is, and why. */
  readonly reason: string;
  /** The server's process, for a test that kills or freezes it. Nothing for a configured one, which is not ours. */
  readonly pid?: number;
  /** Resolves with a sentence, without its full stop, when a Redis of ours is gone without having been stopped. */
  readonly exited: Promise<string>;
  /** Ends a Redis of ours, its clients connected or not, and removes the data folder made for it. Leaves a configured one alone. */
  stop(): Promise<void>;
}

export interface DevRedisOptions {
  /** As REDIS_URL. Where given, it is this one or an error. */
  readonly redisUrl?: string | undefined;
  /**
   * `server` and `embedded` insist on their kind. `cluster` is a server on PATH in cluster mode, alone with all slots: any
   * client may use it, and it refuses what touches keys of several slots, as every node of a cluster does. It takes two seconds to start.
   * Defaults to `auto`: a server on PATH, else the embedded one.
   */
  readonly choice?: "auto" | "server" | "embedded" | "cluster";
  /** Where a real server keeps its data. Defaults to a fresh folder that goes with it. */
  readonly dataDir?: string;
  /** Whether a real server writes an append-only file, and so has its data back when started on the same `dataDir`. Defaults to false. */
  readonly appendOnly?: boolean;
  /** Defaults to any free port. A Redis that a test takes away comes back on its old one. */
  readonly port?: number;
}

const configuredAnswersWithinMs = 3_000;

/**
 * The Redis for development and tests: the configured one, else a server on PATH, else the embedded one. Never falls back in silence.
 * One that is started here listens on 127.0.0.1 only and ends with this process, however that ends.
 *
 * @throws StartError when `redisUrl` is given and does not answer within 3 seconds, when the asked kind is not to be had, or when the server
 *   does not come up, as on a `port` that is taken
 */
export async function startRedis(options: DevRedisOptions = {}): Promise<DevRedis> {
  const { redisUrl, choice = "auto" } = options;
  if (redisUrl) return useConfigured(redisUrl);
  const found = choice === "embedded" ? undefined : findRedisOnPath(readSearchPath());
  if (found) return startServer(found, options);
  if (choice === "server" || choice === "cluster") {
    throw new StartError(
      `DEV_REDIS=${choice}: expected redis-server or valkey-server on PATH, found neither. Install one (Debian and Ubuntu: apt install redis-server, macOS: brew install redis), or unset DEV_REDIS to use the embedded one.`,
    );
  }
  const why = choice === "embedded" ? "asked for by DEV_REDIS" : "no REDIS_URL and no redis-server on PATH";
  return startEmbedded(options, why);
}

async function useConfigured(redisUrl: string): Promise<DevRedis> {
  const url = URL.parse(redisUrl);
  if (!url || !/^rediss?:$/.test(url.protocol)) {
    throw new StartError(
      "REDIS_URL: expected redis://host:port or rediss://host:port, got another form. Correct it, or unset it to use a local Redis.",
    );
  }
  const shown = maskCredentials(url);
  try {
    await pingRedis(redisUrl, configuredAnswersWithinMs);
  } catch (error) {
    throw new StartError(
      `REDIS_URL is ${shown}, and that Redis is not reachable: ${error instanceof Error ? error.message : error}. Start it, correct REDIS_URL, or unset it to use a local Redis.`,
    );
  }
  return {
    url: redisUrl,
    kind: "configured",
    reason: `${shown}, from REDIS_URL`,
    exited: new Promise(() => {}),
    stop: async () => {},
  };
}

async function startServer({ name, command }: RedisOnPath, options: DevRedisOptions): Promise<DevRedis> {
  const { appendOnly = false, choice, dataDir, port } = options;
  const inCluster = choice === "cluster";
  const running = await startRedisProcess({
    kind: "server",
    command,
    appendOnly,
    inCluster,
    ...(dataDir !== undefined && { dataDir }),
    ...(port !== undefined && { port }),
  });
  const reason = inCluster
    ? `${name} in cluster mode, asked for by DEV_REDIS: one node with all slots, for tests of what a cluster refuses`
    : `${name}, because it is on PATH and REDIS_URL is not set`;
  return toDevRedis(running, name, reason);
}

async function startEmbedded({ port }: DevRedisOptions, why: string): Promise<DevRedis> {
  const running = await startRedisProcess({ kind: "embedded", ...(port !== undefined && { port }) });
  const reason = `embedded, ${why}: memory only, slower than Redis, not for production or benchmarks`;
  return toDevRedis(running, "embedded", reason);
}

function toDevRedis(running: KeptServer, kind: DevRedis["kind"], reason: string): DevRedis {
  return {
    url: `redis://127.0.0.1:${running.port}`,
    kind,
    reason,
    pid: running.pid,
    exited: running.exited.then((why) => `The development Redis (${kind}) is gone: it ${why}`),
    stop: running.stop,
  };
}
