import { expect, test } from "vitest";
import { createRedisMetrics, type RedisMemory } from "./redis-metrics.ts";
import { createRegistry } from "./registry.ts";

test("how full Redis is is told while it says so, and no old figure passes for a new one", async () => {
  const registry = createRegistry();
  let memory: RedisMemory | undefined = { usedBytes: 12, maxBytes: 100 };
  createRedisMetrics(registry, async () => memory);
  const told = await registry.metrics();
  expect(told).toMatch(/^redis_memory_used_bytes 12$/m);
  expect(told).toMatch(/^redis_memory_max_bytes 100$/m);
  memory = undefined;
  expect(await registry.metrics()).not.toMatch(/^redis_memory_\w+ /m);
});
