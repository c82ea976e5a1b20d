import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { readSearchPath } from "./env.ts";
import { pingRedis, type RedisProcess, startRedisProcess } from "./redis-process.ts";

export interface DevRedis {
  readonly url: string;
  readonly kind: "configured" | "redis-server" | "valkey-server" | "embedded";
  /** One sentence for the start line: which Redis this is, and why. */
  readonly reason: string;
  /** The server's process; nothing for a configured one, which is not ours. */
  readonly pid?: number;
  /** Resolves with a sentence when a Redis of ours is gone without having been stopped. */
  readonly exited: Promise<string>;
  /** Ends a Redis of ours and removes the data folder made for it. Leaves a configured one alone. */
  stop(): Promise<void>;
}

export interface DevRedisOptions {
  /** As REDIS_URL. Where given, it is this one or an error. */
  readonly redisUrl?: string | undefined;
  /** `server` and `embedded` insist on their kind. Defaults to `auto`: a server on PATH, else the embedded one. */
  readonly choice?: "auto" | "server" | "embedded";
  /** Where a real server keeps its data. Defaults to a fresh folder that goes with it. */
  readonly dataDir?: string;
  /** Whether a real server writes an append-only file. Defaults to false. */
  readonly appendOnly?: boolean;
  /** Defaults to any free port. A Redis that a test takes away comes back on its old one. */
  readonly port?: number;
}

/**
 * The Redis for development and tests: the configured one, else a server on PATH, else the embedded one. Never falls back in silence.
 *
 * @throws Error when REDIS_URL is given and does not answer within 3 seconds, or when the asked kind is not to be had
 */
export async function startRedis(options: DevRedisOptions = {}): Promise<DevRedis> {
  const { redisUrl, choice = "auto" } = options;
  if (redisUrl) return useConfigured(redisUrl);
  const found = choice === "embedded" ? undefined : findServer();
  if (found) return startServer(found, options);
  if (choice === "server") {
    throw new Error(
      "DEV_REDIS=server: expected redis-server or valkey-server on PATH, found neither. Install one, or unset DEV_REDIS.",
    );
  }
  return startEmbedded(
    options,
    choice === "embedded" ? "asked for by DEV_REDIS" : "no REDIS_URL and no redis-server on PATH",
  );
}

async function useConfigured(redisUrl: string): Promise<DevRedis> {
  const shown = maskCredentials(redisUrl);
  try {
    await pingRedis(redisUrl, 3_000);
  } catch (error) {
    throw new Error(
      `REDIS_URL is ${shown}, and that Redis is not reachable: ${error instanceof Error ? error.message : error}. Start it, correct REDIS_URL, or unset it to use a local one.`,
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

type ServerName = "redis-server" | "valkey-server";

async function startServer(
  { name, command }: { name: ServerName; command: string },
  options: DevRedisOptions,
): Promise<DevRedis> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "millrace-redis-")));
  const process = await startRedisProcess({
    kind: "server",
    command,
    dataDir,
    appendOnly: options.appendOnly ?? false,
    ...(options.port !== undefined && { port: options.port }),
  });
  const removeData =
    options.dataDir === undefined ? () => rm(dataDir, { recursive: true, force: true }) : async () => {};
  return toDevRedis(process, name, `${name}, found on PATH`, removeData);
}

async function startEmbedded(options: DevRedisOptions, why: string): Promise<DevRedis> {
  const process = await startRedisProcess({
    kind: "embedded",
    ...(options.port !== undefined && { port: options.port }),
  });
  const reason = `embedded, ${why}; in memory only and slower than Redis, for development alone`;
  return toDevRedis(process, "embedded", reason, async () => {});
}

function toDevRedis(
  process: RedisProcess,
  kind: DevRedis["kind"],
  reason: string,
  removeData: () => Promise<void>,
): DevRedis {
  return {
    url: `redis://127.0.0.1:${process.port}`,
    kind,
    reason,
    pid: process.pid,
    exited: process.exited,
    stop: async () => {
      await process.stop();
      await removeData();
    },
  };
}

function findServer(): { name: ServerName; command: string } | undefined {
  const folders = readSearchPath().split(delimiter).filter(Boolean);
  for (const name of ["redis-server", "valkey-server"] as const) {
    for (const folder of folders) {
      const command = join(folder, process.platform === "win32" ? `${name}.exe` : name);
      if (isExecutable(command)) return { name, command };
    }
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function maskCredentials(redisUrl: string): string {
  const url = URL.parse(redisUrl);
  if (!url) return "not a URL";
  if (url.password) url.password = "***";
  return url.href;
}
