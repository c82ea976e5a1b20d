import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connectRedis } from "../test/connect-redis.ts";
import { kinds } from "../test/kinds.ts";
import { startRedis } from "./redis.ts";

describe.each(kinds)("a development Redis (%s)", (choice) => {
  test("that is frozen is stopped all the same", async () => {
    const { url, pid, stop } = await startRedis({ choice });
    if (pid === undefined) throw new Error("expected a Redis of our own");
    const client = connectRedis(url);
    await client.ping();
    const ended = once(client, "end");
    process.kill(pid, "SIGSTOP");
    await stop();
    await ended;
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

// Only a real server writes to disk; where the machine has none, there is nothing to hold to it.
describe.each(kinds.filter((kind) => kind === "server"))("a real Redis (%s)", (choice) => {
  test("that is killed has its data back on its old port, where it writes an append-only file", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "millrace-test-"));
    const options = { choice, dataDir, appendOnly: true } as const;
    const first = await startRedis(options);
    const client = connectRedis(first.url);
    await client.set("kept", "yes");
    if (first.pid === undefined) throw new Error("expected a Redis of our own");
    process.kill(first.pid, "SIGKILL");
    await expect(first.exited).resolves.toMatch(/ended with SIGKILL$/);

    const second = await startRedis({ ...options, port: Number(new URL(first.url).port) });
    const again = connectRedis(second.url);
    expect(second.url).toBe(first.url);
    expect(await again.get("kept")).toBe("yes");
    again.disconnect();
    await second.stop();
    await rm(dataDir, { recursive: true });
  });
});
