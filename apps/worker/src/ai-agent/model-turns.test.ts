import { randomUUID } from "node:crypto";
import { createRedis } from "@millrace/redis";
import { afterAll, expect, test } from "vitest";
import { createModelTurns } from "./model-turns.ts";

const { REDIS_URL = "", QUEUE_PREFIX: prefix = "" } = process.env;
const redis = createRedis("worker", REDIS_URL, () => {});
afterAll(() => redis.disconnect());
const turns = (perMinute: number, longestWaitMs = 2_000) =>
  createModelTurns({ redis, prefix, name: randomUUID(), perMinute, longestWaitMs });
const signal = new AbortController().signal;

test("who comes too early is put off until its turn, without an attempt", async () => {
  const takeTurn = turns(2);
  await takeTurn("a", signal);
  await takeTurn("b", signal);
  const { failureKind, code, retryAfterMs } = Object(await takeTurn("c", signal).catch((error: unknown) => error));
  expect({ failureKind, code }).toEqual({ failureKind: "rate_limited", code: "model_turn" });
  expect(retryAfterMs).toBeGreaterThan(25_000);
});

test("a turn that is near enough is waited for, until the job is called off", async () => {
  const takeTurn = turns(1, 60_000);
  await takeTurn("a", signal);
  const calledOff = new AbortController();
  const waiting = takeTurn("b", calledOff.signal);
  // By then it has asked, and waits.
  await redis.ping();
  calledOff.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
});

test("while nobody can say whose turn it is, the job waits", async () => {
  const away = createRedis("producer", "redis://127.0.0.1:1", () => {});
  const takeTurn = createModelTurns({ redis: away, prefix, name: "away", perMinute: 1 });
  await expect(takeTurn("a", signal)).rejects.toMatchObject({ failureKind: "contention", code: "model_turn_unknown" });
  away.disconnect();
});
