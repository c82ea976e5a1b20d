import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";
import { pingRedis } from "./redis-ping.ts";

const askEveryMs = 50;

/**
 * Gives all hash slots to the one Redis in cluster mode at `url`, and waits until it takes commands: two seconds after its start, since Redis
 * lets a node listen for others first.
 *
 * @throws Error after `deadlineMs`, or where the server is not in cluster mode
 */
export async function ownAllSlots(url: string, deadlineMs: number): Promise<void> {
  const tooLateAt = performance.now() + deadlineMs;
  await pingRedis(url, deadlineMs);
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on("error", () => {});
  try {
    // One that is back on its data folder has them.
    if (!(await readState(redis)).includes("cluster_slots_assigned:16384")) {
      await redis.cluster("ADDSLOTS", ...Array.from({ length: 16_384 }, (_, slot) => slot));
    }
    while (!(await readState(redis)).includes("cluster_state:ok")) {
      if (performance.now() > tooLateAt) throw new Error(`not ready for commands within ${deadlineMs} ms`);
      await wait(askEveryMs);
    }
  } finally {
    redis.disconnect();
  }
}

async function readState(redis: Redis): Promise<string> {
  return String(await redis.cluster("INFO"));
}
