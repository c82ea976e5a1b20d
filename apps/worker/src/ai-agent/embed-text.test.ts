import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createFileStore } from "@millrace/file-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmbedText } from "./embed-text.ts";
import type { ModelCall } from "./model-turns.ts";
import { createModels } from "./models.ts";
import { agentContext } from "./test/domain.ts";
import { embeds, fails, type ScriptedModel, startScriptedModel } from "./test/scripted-model.ts";

const folder = join(tmpdir(), `millrace-vectors-${randomUUID()}`);
const files = createFileStore({ location: { kind: "folder", folder } });
let model: ScriptedModel;
const [asked, used]: [ModelCall[], number[]] = [[], []];
const takeTurn = async (call: ModelCall) => {
  asked.push(call);
  return async (tokens: number) => void used.push(tokens);
};
let embedText: ReturnType<typeof createEmbedText>;

beforeAll(async () => {
  model = await startScriptedModel();
  const models = createModels({
    ...{ baseUrl: model.baseUrl, model: "chat", embeddingModel: "embedding" },
    ...{ maxOutputTokens: 1_000, connectTimeoutMs: 2_000, idleTimeoutMs: 2_000 },
  });
  const prices = { input: 2, output: 0 };
  embedText = createEmbedText({ models, prices, callTimeoutMs: 5_000, takeTurn, files });
  afterAll(() => models.close());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const embed = (texts: string[]) =>
  embedText({ texts }, agentContext({ action: "embedText", jobId: "1", workspaceId: "w" }));

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
  const texts = Array.from({ length: 70 }, (_, index) => "x".repeat(index + 1));
  const result = await embed(texts);
  expect(result).toMatchObject({ count: 70, dimensions: 256, vectors: null, usage: { inputTokens: 14 } });
  expect(model.requests().map(({ input }) => input?.length)).toEqual([64, 6]);
  const { content } = await files.open(result.file?.fileId ?? "");
  const { vectors } = JSON.parse(await text(content));
  expect(vectors.map(([first]: number[]) => first)).toEqual(texts.map(({ length }) => length));
});

test("each request takes its turn on the workspace's account, and its limit learns what it used", async () => {
  [asked.length, used.length] = [0, 0];
  model.script(embeds(3));
  await embed(["x".repeat(40), "y"]);
  expect([asked, used]).toEqual([[{ asker: "aiAgent/1", workspaceId: "w", estimatedTokens: 11 }], [7]]);
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
