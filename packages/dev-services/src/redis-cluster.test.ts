import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connectRedis } from "../test/connect-redis.ts";
import { kinds } from "../test/kinds.ts";
import { ownAllSlots } from "./own-all-slots.ts";
import { type DevRedis, startRedis } from "./redis.ts";

test("the choice of cluster mode without a server on PATH is a sentence that says what to do: the embedded Redis has no such mode", async () => {
  vi.stubEnv("PATH", "");
  await expect(startRedis({ choice: "cluster" })).rejects.toThrow(
    /^DEV_REDIS=cluster: expected redis-server or valkey-server on PATH, found neither\. Install one/,
  );
  vi.unstubAllEnvs();
});

describe.each(kinds.filter((kind) => kind === "server"))("a %s in cluster mode", () => {
  let redis: DevRedis;
  let client: ReturnType<typeof connectRedis>;

  beforeAll(async () => {
    redis = await startRedis({ choice: "cluster" });
    client = connectRedis(redis.url);
  });

  afterAll(async () => {
    client.disconnect();
    await redis.stop();
  });

  test("says what it is", () => {
    expect(redis.reason).toMatch(
      /^(redis|valkey)-server in cluster mode, asked for by DEV_REDIS: one node with all slots/,
    );
  });

  test("takes what touches one slot, and refuses a command, a script and a transaction on two", async () => {
    const [one, other] = ["{a}:one", "{b}:other"];
    await expect(client.mset(one, "1", "{a}:two", "2")).resolves.toBe("OK");
    await expect(client.set(other, "1")).resolves.toBe("OK");
    await expect(client.del(one, other)).rejects.toThrow("CROSSSLOT");
    await expect(client.eval("return 1", 2, one, other)).rejects.toThrow("CROSSSLOT");
    await expect(client.multi().set(one, "1").set(other, "1").exec()).rejects.toThrow("CROSSSLOT");
  });

  test("that is back with its slots is not given them again", async () => {
    await expect(ownAllSlots(redis.url, 3_000)).resolves.toBeUndefined();
  });
});
