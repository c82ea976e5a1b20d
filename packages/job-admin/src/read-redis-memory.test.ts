import { readDevServicesEnv, startRedis } from "@millrace/dev-services";
import { askQueue, closeQueues, contracts } from "@millrace/worker-config";
import { afterEach, expect, test, vi } from "vitest";
import { readRedisMemory } from "./read-redis-memory.ts";

afterEach(async () => {
  await closeQueues();
  vi.unstubAllEnvs();
});

test("Redis' memory is told with its bound, or not at all where Redis does not say", async () => {
  const redis = await startRedis({ choice: readDevServicesEnv().DEV_REDIS });
  vi.stubEnv("REDIS_URL", redis.url);
  if (redis.kind === "embedded") {
    expect(await readRedisMemory()).toBeUndefined();
  } else {
    const set = ["set", "maxmemory", String(64 * 1024 * 1024)];
    await askQueue(contracts.email, async (queue) => (await queue.getBackend().client).runCommand("config", set));
    expect(await readRedisMemory()).toEqual({ usedBytes: expect.any(Number), maxBytes: 64 * 1024 * 1024 });
  }
  await closeQueues();
  await redis.stop();
});
