import { Gauge, type Registry } from "prom-client";

/** What Redis says of its memory, in bytes. */
export interface RedisMemory {
  readonly usedBytes: number;
  /** What `maxmemory` allows; 0 where it allows as much as there is. */
  readonly maxBytes: number;
}

/**
 * How full Redis is: `redis_memory_used_bytes`, `redis_memory_max_bytes`. A Redis that is full takes no job (`noeviction`) or loses some. To be
 * exported by one kind of process alone. Left out while Redis does not answer, or does not say.
 *
 * @param read asked by each metric of a scrape: should give both the same answer
 */
export function createRedisMetrics(registry: Registry, read: () => Promise<RedisMemory | undefined>): void {
  const gauge = (name: string, help: string, figureOf: (memory: RedisMemory) => number) =>
    new Gauge({
      ...{ name, help, registers: [registry] },
      async collect() {
        const memory = await read().catch(() => undefined);
        this.remove();
        if (memory) this.set(figureOf(memory));
      },
    });
  gauge("redis_memory_used_bytes", "What Redis uses of its memory.", ({ usedBytes }) => usedBytes);
  gauge("redis_memory_max_bytes", "Redis' maxmemory; 0 without one.", ({ maxBytes }) => maxBytes);
}
