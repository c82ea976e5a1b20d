import { startRedis } from "@millrace/dev-services";
import { redisConnectionOptions } from "@millrace/redis";
import { defineQueue } from "@millrace/worker-config/contracts";
import { createWorkspaceDirectory, watchWorkspaces } from "@millrace/workspaces";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { z } from "zod";
import { silent } from "../test/use-queue.ts";
import { startWorker } from "./start-worker.ts";

test("every key that a worker and its directory write carries the prefix's hash tag, so that a cluster keeps them in one slot", async () => {
  const server = await startRedis();
  const connection = redisConnectionOptions("worker", server.url);
  const redis = new Redis(connection);
  const prefix = "{one-slot}";
  const queue = new Queue("default", { connection, prefix });
  const workspaces = watchWorkspaces({ connection, prefix });
  const data = z.object({ key: z.string() });
  const contract = defineQueue(
    "default",
    { run: { data, idempotencyKey: ({ key }) => key, workspaceId: ({ key }) => key } },
    { concurrency: 2, rateLimit: { max: 100, durationMs: 1_000 } },
  );
  try {
    await createWorkspaceDirectory({ redis, prefix }).assignWorkspace("workspace", "owner");
    const broken = await queue.add("run", { type: "run", data: { key: "broken" } });
    await redis.hset(queue.toKey(broken.id ?? ""), "data", "{bad");
    await queue.add("run", { type: "run", data: { key: "workspace" } });
    const settings = { connection, prefix, concurrency: 1, log: silent, workspaces };
    const worker = startWorker(contract, { run: async () => {} }, settings);
    await expect.poll(() => queue.getCompletedCount(), { timeout: 10_000 }).toBe(1);
    await worker.stop(5_000);
    const keys = await redis.keys("*");
    expect(keys.filter((key) => !key.startsWith(`${prefix}:`))).toEqual([]);
    const kinds = new Set(keys.map((key) => key.split(":")[1]));
    expect(kinds).toEqual(new Set(["default", "_idempotency", "_quarantine", "_workspaces"]));
  } finally {
    workspaces.close();
    redis.disconnect();
    await queue.close();
    await server.stop();
  }
});
