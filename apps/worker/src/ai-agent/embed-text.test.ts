import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { useDatabase } from "@millrace/database/testing";
import { createFileStore } from "@millrace/file-store";
import { createRedis } from "@millrace/redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmbedText } from "./embed-text.ts";
import { createModelTurns, type ModelCall } from "./model-turns.ts";
import { createModels } from "./models.ts";
import { agentContext } from "./test/domain.ts";
import { embeds, fails, type ModelReply, type ScriptedModel, startScriptedModel } from "./test/scripted-model.ts";

const { database } = useDatabase();
const { REDIS_URL = "", QUEUE_PREFIX: prefix = "" } = process.env;
const redis = createRedis("worker", REDIS_URL, () => {});
afterAll(() => redis.disconnect());
const folder = join(tmpdir(), `millrace-vectors-${randomUUID()}`);
const files = createFileStore({ location: { kind: "folder", folder } });
let model: ScriptedModel;
const [asked, used]: [ModelCall[], number[]] = [[], []];
const takeTurn = async (call: ModelCall) => {
  asked.push(call);
  return async (tokens: number) => void used.push(tokens);
};
let embedText: ReturnType<typeof createEmbedText>;
let embedOncePerMinute: () => ReturnType<typeof createEmbedText>;

beforeAll(async () => {
  model = await startScriptedModel();
  const models = createModels({
    ...{ baseUrl: model.baseUrl, model: "chat", embeddingModel: "embedding" },
    ...{ maxOutputTokens: 1_000, connectTimeoutMs: 2_000, idleTimeoutMs: 2_000 },
  });
  const prices = { input: 2, output: 0 };
  const parts = { database: database(), models, prices, callTimeoutMs: 5_000, files };
  embedText = createEmbedText({ ...parts, takeTurn });
  embedOncePerMinute = () => {
    const takeTurn = createModelTurns({ redis, prefix, name: randomUUID(), ofModel: { requestsPerMinute: 1 } });
    return createEmbedText({ ...parts, takeTurn });
  };
  afterAll(() => models.close());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const newContext = () => agentContext({ action: "embedText", workspaceId: "w" });
const embed = (texts: string[]) => embedText({ texts }, newContext());
/** More than one request takes. */
const manyTexts = Array.from({ length: 70 }, (_, index) => "x".repeat(index + 1));

test("a few texts become vectors in the result, in their order", async () => {
  model.script(embeds(3));
  expect(await embed(["a", "bcd"])).toEqual({
    model: "embedding",
    dimensions: 3,
    count: 2,
    vectors: [
      [1, 1.125, 1.25],
      [3, 3.125, 3.25],
    ],
    file: null,
    usage: { inputTokens: 7, outputTokens: 0, costUsd: 0.000014 },
  });
});

test("many texts are asked for in several requests, and their vectors are a file", async () => {
  model.script(embeds(256), embeds(256));
  const result = await embed(manyTexts);
  expect(result).toMatchObject({ count: 70, dimensions: 256, vectors: null, usage: { inputTokens: 14 } });
  expect(model.requests().map(({ input }) => input?.length)).toEqual([64, 6]);
  const { content } = await files.open(result.file?.fileId ?? "");
  const { vectors } = JSON.parse(await text(content));
  expect(vectors.map(([first]: number[]) => first)).toEqual(manyTexts.map(({ length }) => length));
});

test.each([3, 256])("a job that has to wait within asks for no vectors of %i numbers twice", async (dimensions) => {
  const context = newContext();
  model.script(embeds(dimensions));
  const waiting = embedOncePerMinute()({ texts: manyTexts }, context);
  await expect(waiting).rejects.toMatchObject({ failureKind: "rate_limited", code: "model_turn" });
  expect(model.requests().map(({ input }) => input?.length)).toEqual([64]);
  model.script(fails(429));
  await expect(embedText({ texts: manyTexts }, context)).rejects.toMatchObject({ code: "model_rate_limited" });
  model.script(embeds(dimensions));
  const result = await embedText({ texts: manyTexts }, context);
  expect(model.requests().map(({ input }) => input?.length)).toEqual([6]);
  expect(result).toMatchObject({ count: 70, usage: { inputTokens: 14 } });
  // As after a death between the last record and the job's end.
  model.script();
  expect(await embedText({ texts: manyTexts }, context)).toMatchObject({ count: 70, usage: { inputTokens: 14 } });
});

test("vectors whose file is gone are asked for again", async () => {
  const context = newContext();
  model.script(embeds(256), fails(500));
  await expect(embedText({ texts: manyTexts }, context)).rejects.toMatchObject({ code: "model_unavailable" });
  await rm(folder, { recursive: true });
  model.script(embeds(256), embeds(256));
  expect(await embedText({ texts: manyTexts }, context)).toMatchObject({ count: 70, usage: { inputTokens: 21 } });
  model.script();
  await embedText({ texts: manyTexts }, context);
});

test("each request takes its turn on the workspace's account, and its limit learns what it used", async () => {
  [asked.length, used.length] = [0, 0];
  model.script(embeds(3));
  await embed(["x".repeat(40), "y"]);
  expect([asked, used]).toMatchObject([[{ workspaceId: "w", estimatedTokens: 11 }], [7]]);
});

test.each([
  [429, { failureKind: "rate_limited", code: "model_rate_limited" }],
  [500, { failureKind: "transient", code: "model_unavailable" }],
  [401, { failureKind: "permanent", code: "model_unauthorized" }],
])("a server that answers %i is asked once", async (status, expected) => {
  model.script(fails(status), embeds(3));
  await expect(embed(["a"])).rejects.toMatchObject(expected);
  expect(model.requests()).toHaveLength(1);
});

test("vectors that never end are cut off", async () => {
  model.script((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(`{"data":[${"0,".repeat(9_000_000)}`),
  );
  await expect(embed(["x"])).rejects.toMatchObject({ failureKind: "permanent", code: "answer_too_large" });
});

test("tokens that are counted below zero are none, and those that no integer holds are brought into bounds", async () => {
  const counts =
    (prompt_tokens: number): ModelReply =>
    (response) => {
      const body = { data: [{ embedding: [1] }], usage: { prompt_tokens } };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
  model.script(counts(-1_000_000), counts(1e12));
  // Four characters: one token by estimate.
  expect(await embed(["mill"])).toMatchObject({ usage: { inputTokens: 1 } });
  expect(await embed(["mill"])).toMatchObject({ usage: { inputTokens: 10_000_000 } });
});
