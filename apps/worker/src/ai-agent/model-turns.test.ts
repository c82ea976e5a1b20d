import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createRedis } from "@millrace/redis";
import { afterAll, expect, test } from "vitest";
import { createModelTurns, type ModelRate } from "./model-turns.ts";

const { REDIS_URL = "", QUEUE_PREFIX: prefix = "" } = process.env;
const redis = createRedis("worker", REDIS_URL, () => {});
afterAll(() => redis.disconnect());
const signal = new AbortController().signal;

interface Limits {
  readonly name?: string;
  readonly ofModel?: ModelRate;
  readonly ofWorkspace?: ModelRate;
  readonly longestWaitMs?: number;
}

/** The turns of one process. */
function turns(limits: Limits) {
  const takeTurn = createModelTurns({ redis, prefix, name: randomUUID(), ...limits });
  return (asker: string, workspaceId?: string, estimatedTokens = 1, until = signal) =>
    takeTurn({ asker, workspaceId, estimatedTokens }, until);
}

async function refusalOf(turn: Promise<unknown>): Promise<Record<string, unknown>> {
  const error = await turn.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ failureKind: "rate_limited" });
  return Object(error);
}

test("who comes too early is put off until its turn, without an attempt", async () => {
  const takeTurn = turns({ ofModel: { requestsPerMinute: 2 } });
  await takeTurn("a");
  await takeTurn("b");
  const { code, retryAfterMs } = await refusalOf(takeTurn("c"));
  expect(code).toBe("model_turn");
  expect(retryAfterMs).toBeGreaterThan(25_000);
});

test("all processes share a model's tokens: what an answer took more than was thought, the next ones wait for", async () => {
  const limits = { name: randomUUID(), ofModel: { tokensPerMinute: 6_000 } };
  const processes = [turns(limits), turns(limits)] as const;
  const tellUsedTokens = await processes[0]("a", undefined, 1_000);
  await (await processes[1]("b", undefined, 1_000))(1_000);
  await tellUsedTokens(9_000);
  const { code, retryAfterMs } = await refusalOf(processes[1]("c", undefined, 1_000));
  expect(code).toBe("model_turn");
  // 11,000 are promised or used, at 100 a second, and 6,000 go at once.
  expect(retryAfterMs).toBeLessThanOrEqual(50_000);
  expect(retryAfterMs).toBeGreaterThan(45_000);
});

test.each<[string, ModelRate]>([
  ["requests", { requestsPerMinute: 1 }],
  ["tokens", { tokensPerMinute: 100 }],
])("a workspace at its limit of %s waits for itself, and holds up no other", async (_, ofWorkspace) => {
  const limits = { name: randomUUID(), ofWorkspace, ofModel: { requestsPerMinute: 3, tokensPerMinute: 300 } };
  const processes = [turns(limits), turns(limits)] as const;
  await processes[0]("a1", "a", 100);
  for (const job of ["a2", "a3", "a4"]) {
    expect(await refusalOf(processes[1](job, "a", 100))).toMatchObject({ code: "workspace_turn" });
  }
  // Had they taken the model's turns, there were none left.
  await processes[1]("b1", "b", 100);
  await processes[0]("nobody's", undefined, 100);
});

test("a job that had its workspace's turn and waits for the model's does not wait for its workspace again", async () => {
  const name = randomUUID();
  const ofWorkspace = { requestsPerMinute: 1 };
  const crowded = turns({ name, ofWorkspace, ofModel: { requestsPerMinute: 1 } });
  await crowded("first", "a");
  expect(await refusalOf(crowded("second", "b"))).toMatchObject({ code: "model_turn" });
  await turns({ name, ofWorkspace })("second", "b");
});

test("a turn that is near enough is waited for and then given", async () => {
  // One in 100 ms.
  const takeTurn = turns({ ofModel: { tokensPerMinute: 600 } });
  await takeTurn("a", undefined, 600);
  const startedAt = performance.now();
  await takeTurn("b", undefined, 2);
  expect(performance.now() - startedAt).toBeGreaterThan(100);
});

test("a turn that is waited for is no longer when the job is called off", async () => {
  const takeTurn = turns({ ofModel: { requestsPerMinute: 1 }, longestWaitMs: 60_000 });
  await takeTurn("a");
  const calledOff = new AbortController();
  const waiting = takeTurn("b", undefined, 1, calledOff.signal);
  // By then it has asked, and waits.
  await redis.ping();
  calledOff.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
});

test("while nobody can say whose turn it is, the job waits, and an answer that is there stays", async () => {
  const away = createRedis("producer", "redis://127.0.0.1:1", () => {});
  const call = { asker: "a", workspaceId: undefined, estimatedTokens: 1 };
  const takeTurn = createModelTurns({ redis: away, prefix, name: "away", ofModel: { requestsPerMinute: 1 } });
  await expect(takeTurn(call, signal)).rejects.toMatchObject({ failureKind: "contention", code: "model_turn_unknown" });
  away.disconnect();
  const leaving = createRedis("producer", REDIS_URL, () => {});
  await once(leaving, "ready");
  const ofModel = { tokensPerMinute: 100 };
  const tellUsedTokens = await createModelTurns({ redis: leaving, prefix, name: randomUUID(), ofModel })(call, signal);
  leaving.disconnect();
  await tellUsedTokens(50);
});
