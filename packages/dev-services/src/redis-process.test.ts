import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { connectRedis } from "../test/connect-redis.ts";
import { kinds } from "../test/kinds.ts";
import { type DevRedis, startRedis } from "./redis.ts";

const started: DevRedis[] = [];

async function start(options: Parameters<typeof startRedis>[0]): Promise<DevRedis & { pid: number }> {
  const { pid, ...redis } = await startRedis(options);
  if (pid === undefined) throw new Error("expected a Redis of our own");
  started.push(redis);
  return { ...redis, pid };
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((redis) => redis.stop()));
});

/** Starts a program that holds a Redis, in a process group of its own as a terminal would. */
async function startHolder(choice: string) {
  const script = fileURLToPath(new URL("../test/hold-redis.ts", import.meta.url));
  const holder = spawn(process.execPath, ["--conditions=millrace-source", script, choice], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  if (holder.pid === undefined) throw new Error("expected a process");
  const [url]: string[] = await once(createInterface(holder.stdout), "line");
  return { pid: holder.pid, url: url ?? "", gone: once(holder, "exit") };
}

describe.each(kinds)("a development Redis (%s)", (choice) => {
  test("outlives a Ctrl-C that its parent survives, and goes when its parent is killed with no chance to say so", async () => {
    const holder = await startHolder(choice);
    const client = connectRedis(holder.url);
    await client.ping();
    const ended = once(client, "end");
    process.kill(-holder.pid, "SIGINT");
    await expect(client.ping()).resolves.toBe("PONG");
    process.kill(holder.pid, "SIGKILL");
    await holder.gone;
    await ended;
    const another = connectRedis(holder.url);
    await expect(another.ping()).rejects.toThrow();
  });

  test("that is killed says so", async () => {
    const redis = await start({ choice });
    process.kill(redis.pid, "SIGKILL");
    await expect(redis.exited).resolves.toMatch(/ended/);
  });

  test("comes back on its old port after it was killed", async () => {
    const redis = await start({ choice });
    const port = Number(new URL(redis.url).port);
    process.kill(redis.pid, "SIGKILL");
    await redis.exited;
    const again = await start({ choice, port });
    expect(again.url).toBe(redis.url);
    const client = connectRedis(again.url);
    await expect(client.ping()).resolves.toBe("PONG");
    client.disconnect();
  });

  test("is gone after stop, also while clients are connected, and does not report that as an accident", async () => {
    const redis = await start({ choice });
    const onExit = vi.fn();
    redis.exited.then(onExit);
    const client = connectRedis(redis.url);
    await client.ping();
    const ended = once(client, "end");
    await redis.stop();
    await ended;
    expect(() => process.kill(redis.pid, 0)).toThrow("ESRCH");
    expect(onExit).not.toHaveBeenCalled();
  });

  test("may be stopped twice, and after it was killed", async () => {
    const redis = await start({ choice });
    process.kill(redis.pid, "SIGKILL");
    await redis.stop();
    await redis.stop();
  });

  test("leaves no data folder behind", async () => {
    // A temporary folder of its own: other runs come and go in the machine's.
    const temporary = await mkdtemp(join(tmpdir(), "millrace-test-"));
    vi.stubEnv("TMPDIR", temporary);
    const redis = await start({ choice });
    await redis.stop();
    expect(await readdir(temporary)).toEqual([]);
    vi.unstubAllEnvs();
    await rm(temporary, { recursive: true });
  });
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "the keeper ignores %s: it ends with its parent",
  async (signal) => {
    const redis = await start({ choice: "embedded" });
    const client = connectRedis(redis.url);
    await client.ping();
    // The embedded server lives in the keeper, so this is the keeper's process.
    process.kill(redis.pid, signal);
    await expect(client.ping()).resolves.toBe("PONG");
    await expect(client.ping()).resolves.toBe("PONG");
    client.disconnect();
  },
);
