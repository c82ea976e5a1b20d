import { randomUUID } from "node:crypto";
import { createRedis } from "@millrace/redis";
import { afterAll, expect, test } from "vitest";
import { createJobEventWriter, eventStreamKey } from "./create-job-event-writer.ts";

const prefix = process.env.QUEUE_PREFIX ?? "";
const redis = createRedis("worker", process.env.REDIS_URL ?? "", () => {});
afterAll(() => redis.quit());

const jobId = randomUUID();
const key = eventStreamKey(prefix, "aiAgent", jobId);

test("a job's stream holds about as many events as it may, and expires after the last of them", async () => {
  const writer = createJobEventWriter({ redis, prefix, maxEvents: 100, lifetimeMs: 60_000 });
  await Promise.all(
    Array.from({ length: 250 }, () => writer.append("aiAgent", jobId, { type: "token", data: { text: "x" } })),
  );
  expect(await redis.xlen(key)).toBeGreaterThanOrEqual(100);
  expect(await redis.xlen(key)).toBeLessThan(225);
  expect(await redis.pttl(key)).toBeGreaterThan(50_000);
  // Numbered without a hole, however many write at once.
  expect((await redis.xrevrange(key, "+", "-", "COUNT", 1))[0]?.[0]).toMatch(/^\d{13}-250$/);
});

test.each(["status", "end", "open", "Token", "to ken", "", "x".repeat(51), "a\nevent: end"])(
  "an event of the type %j is refused, since followers would take it for something else",
  async (type) => {
    const writer = createJobEventWriter({ redis, prefix });
    await expect(writer.append("aiAgent", jobId, { type, data: 1 })).rejects.toThrow(/^event\.type: expected/);
  },
);

test("an event larger than 16 KB is refused, and its data is not in the error", async () => {
  const writer = createJobEventWriter({ redis, prefix });
  await writer.append("aiAgent", jobId, { type: "token", data: "ü".repeat(8_191) });
  const refused = writer.append("aiAgent", jobId, { type: "token", data: "ü".repeat(8_192) });
  await expect(refused).rejects.toThrow(
    "event.data: expected at most 16384 bytes of JSON, got 16386. Append it in pieces, or return it as the result.",
  );
});
