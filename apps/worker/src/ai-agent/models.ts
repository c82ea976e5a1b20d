import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { EmbeddingModel, LanguageModel } from "ai";
import { Agent } from "undici";
import { createBoundedFetch } from "./bounded-fetch.ts";

export interface ModelSettings {
  /** As AI_BASE_URL. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  readonly embeddingModel: string;
  /** As AI_MAX_OUTPUT_TOKENS: how much the server may send follows from it. */
  readonly maxOutputTokens: number;
  /** How long making the connection may take, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** How long the server may send no byte, before its answer and within it, in milliseconds. */
  readonly idleTimeoutMs: number;
}

export interface Models {
  readonly chat: LanguageModel;
  readonly embedding: EmbeddingModel;
  readonly settings: ModelSettings;
  /** Ends the connections, also those in use. */
  close(): Promise<void>;
}

/** Of a stream, one token mostly takes 200 to 300 bytes: each comes in a JSON object of its own, and some servers write long ones. */
const streamBytesPerToken = 512;
/** For comments that keep a connection alive, and what a server says beside its answer. */
const spareBytes = 1_000_000;
/** 64 vectors of 8,192 numbers, each of 22 characters, are 12 MB. */
const embeddingBytes = 16_000_000;

/** The models of one OpenAI-compatible server. Nothing is asked of it before the first use. */
export function createModels(settings: ModelSettings): Models {
  const { baseUrl, apiKey, model, embeddingModel, maxOutputTokens, connectTimeoutMs, idleTimeoutMs } = settings;
  const dispatcher = new Agent({
    connect: { timeout: connectTimeoutMs },
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });
  const providerWithin = (maxBytes: number) =>
    createOpenAICompatible({
      name: "model",
      baseURL: baseUrl,
      ...(apiKey !== undefined && { apiKey }),
      includeUsage: true,
      supportsStructuredOutputs: true,
      fetch: createBoundedFetch(dispatcher, maxBytes),
    });
  return {
    chat: providerWithin(maxOutputTokens * streamBytesPerToken + spareBytes).chatModel(model),
    embedding: providerWithin(embeddingBytes).embeddingModel(embeddingModel),
    settings,
    close: () => dispatcher.destroy(),
  };
}
