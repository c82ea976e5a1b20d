import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { connectRedis } from "../test/connect-redis.ts";
import { kinds } from "../test/kinds.ts";
import { freePort } from "./free-port.ts";
import { type DevRedis, startRedis } from "./redis.ts";

const started: DevRedis[] = [];
let folder: string;

async function start(options: Parameters<typeof startRedis>[0]): Promise<DevRedis> {
  const redis = await startRedis(options);
  started.push(redis);
  return redis;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(started.splice(0).map((redis) => redis.stop()));
  await rm(folder, { recursive: true, force: true });
});

/** Puts a program named redis-server on PATH, and nothing else. */
async function putOnPath(script: string): Promise<void> {
  await writeFile(join(folder, "redis-server"), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, "redis-server"), 0o755);
  vi.stubEnv("PATH", folder);
}

describe("a configured Redis", () => {
  test("is used as it is, and outlives stop", async () => {
    const own = await start({ choice: "embedded" });
    const configured = await startRedis({ redisUrl: own.url, choice: "embedded" });
    expect(configured).toMatchObject({
      url: own.url,
      kind: "configured",
      reason: expect.stringContaining("REDIS_URL"),
    });
    await configured.stop();
    const client = connectRedis(own.url);
    await expect(client.ping()).resolves.toBe("PONG");
    client.disconnect();
  });

  test("that is none, or says nothing, is an error within 3 seconds that repeats no secret: no other one is started instead", async () => {
    const mute = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const address = mute.address();
    if (address === null || typeof address === "string") throw new Error("expected a port");
    const absent = `redis://me:s3cret@127.0.0.1:${await freePort()}`;
    const startedAt = performance.now();
    const failures = [
      absent,
      `redis://me:s3cret@127.0.0.1:${address.port}`,
      "localhost:6379:s3cret",
      "s3cret",
      "http://me:s3cret@127.0.0.1:1",
      "redis://127.0.0.1:s3cret",
      "redis://127.0.0.1:1?password=s3cret",
    ].map(async (redisUrl) => {
      const failure = await startRedis({ redisUrl }).catch(String);
      expect(failure, redisUrl).toContain("REDIS_URL");
      expect(failure).not.toContain("s3cret");
      if (redisUrl === absent) expect(failure).toMatch(/REDIS_URL is redis:\/\/\S+@127\.0\.0\.1:\d+, .*ECONNREFUSED/);
    });
    await Promise.all(failures);
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    await new Promise((resolve) => mute.close(resolve));
  });
});

describe("the choice", () => {
  test("of a server without one on PATH is a sentence that says what to do", async () => {
    vi.stubEnv("PATH", "");
    await expect(startRedis({ choice: "server" })).rejects.toThrow(
      /^DEV_REDIS=server: expected redis-server or valkey-server on PATH, found neither\. Install one.* or unset DEV_REDIS/,
    );
  });

  test("left open takes the embedded one where PATH has no server, and says so", async () => {
    vi.stubEnv("PATH", folder);
    const redis = await start({});
    expect(redis).toMatchObject({
      kind: "embedded",
      reason: expect.stringMatching(/no redis-server .*on PATH.*not for production/),
    });
  });

  test("of the embedded one ignores a server on PATH", async () => {
    await putOnPath("exit 3");
    await expect(start({ choice: "embedded" })).resolves.toMatchObject({ kind: "embedded" });
  });

  test("left open does not fall back when the server on PATH does not start, and leaves no data folder", async () => {
    await putOnPath("exit 3");
    vi.stubEnv("TMPDIR", folder);
    await expect(startRedis()).rejects.toThrow(/Redis did not start: .*redis-server .*ended with code 3/);
    expect(await readdir(folder)).toEqual(["redis-server"]);
  });

  test("of a file that is not executable is not made", async () => {
    await putOnPath("exit 3");
    await chmod(join(folder, "redis-server"), 0o644);
    // root may read everything, but executes only what somebody may execute
    await expect(startRedis({ choice: "server" })).rejects.toThrow("found neither");
  });
});

describe.each(kinds)("%s", (choice) => {
  test("answers under its URL", async () => {
    const redis = await start({ choice });
    const client = connectRedis(redis.url);
    await expect(client.ping()).resolves.toBe("PONG");
    client.disconnect();
  });

  test("starts twice at once, on two ports", async () => {
    const [one, other] = await Promise.all([start({ choice }), start({ choice })]);
    expect(one.url).not.toBe(other.url);
    const clients = [one, other].map(({ url }) => connectRedis(url));
    await clients[0]?.set("who", "one");
    expect(await clients[1]?.get("who")).toBeNull();
    for (const client of clients) client.disconnect();
  });

  test("refuses a port that another Redis holds, instead of passing that one off as its own", async () => {
    const first = await start({ choice: "embedded" });
    const port = Number(new URL(first.url).port);
    await expect(startRedis({ choice, port })).rejects.toThrow(/Redis did not start/);
  });
});
