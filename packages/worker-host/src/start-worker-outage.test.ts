import { type DevRedis, freePort, startRedis } from "@millrace/dev-services";
import { createLogger } from "@millrace/logger";
import { redisConnectionOptions } from "@millrace/redis";
import { defineQueue } from "@millrace/worker-config/contracts";
import { Queue } from "bullmq";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { type RunningWorker, startWorker } from "./start-worker.ts";

const contract = defineQueue("default", { run: { data: z.object({}) } }, { concurrency: 3 });
const job = ["run", { type: "run", data: {} }] as const;
const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function work(port: number, run: () => Promise<void> = async () => {}): { worker: RunningWorker; messages: string[] } {
  const messages: string[] = [];
  const log = createLogger({
    level: "info",
    format: "json",
    destination: { write: (line) => messages.push(JSON.parse(line).msg) },
  });
  const connection = redisConnectionOptions("worker", `redis://127.0.0.1:${port}`);
  const worker = startWorker(contract, { run }, { connection, prefix: "{outage}", concurrency: 1, log });
  return { worker, messages };
}

async function redisOn(port: number): Promise<DevRedis> {
  const redis = await startRedis({ port, choice: "embedded" });
  cleanUps.push(redis.stop);
  return redis;
}

function queueOn(port: number): Queue {
  const queue = new Queue("default", { connection: { host: "127.0.0.1", port }, prefix: "{outage}" });
  queue.on("error", () => {});
  cleanUps.push(() => queue.close());
  return queue;
}

test("without Redis a worker lives, says so once, and stops at once", async () => {
  const { worker, messages } = work(await freePort());
  await vi.waitFor(() => expect(messages).toContain("cannot reach Redis, trying again"), 5_000);
  expect(worker.isReady()).toBe(false);
  const startedAt = performance.now();
  expect(await worker.stop(20_000)).toBe(true);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(messages.filter((message) => message.startsWith("cannot reach"))).toHaveLength(1);
});

test("a worker that was started before Redis works when Redis comes", async () => {
  const port = await freePort();
  const ran = Promise.withResolvers<void>();
  const { worker, messages } = work(port, async () => ran.resolve());
  cleanUps.push(() => worker.stop(1_000));
  await vi.waitFor(() => expect(messages).toHaveLength(1), 5_000);
  await redisOn(port);
  await worker.untilReady();
  await queueOn(port).add(...job);
  await ran.promise;
  expect(worker.isReady()).toBe(true);
});

test("a worker that loses Redis is not ready, and goes on when Redis is back", async () => {
  const port = await freePort();
  const redis = await redisOn(port);
  let ran = Promise.withResolvers<void>();
  const { worker, messages } = work(port, async () => ran.resolve());
  cleanUps.push(() => worker.stop(1_000));
  await worker.untilReady();
  await redis.stop();
  await vi.waitFor(() => expect(worker.isReady()).toBe(false), 5_000);
  await redisOn(port);
  await vi.waitFor(() => expect(worker.isReady()).toBe(true), 15_000);
  ran = Promise.withResolvers<void>();
  await queueOn(port).add(...job);
  await ran.promise;
  await vi.waitFor(
    () => expect(messages).toEqual(["cannot reach Redis, trying again", "reached Redis again", "job completed"]),
    10_000,
  );
});

test("a Redis that comes back empty is told again how many of the queue's jobs may run at once", async () => {
  const port = await freePort();
  const redis = await redisOn(port);
  const { worker } = work(port);
  cleanUps.push(() => worker.stop(1_000));
  await worker.untilReady();
  await redis.stop();
  await redisOn(port);
  const queue = queueOn(port);
  await vi.waitFor(async () => expect(await queue.getGlobalConcurrency()).toBe(3), 15_000);
});
