import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { EmbeddingModel, LanguageModel } from "ai";
import { Agent, fetch as undiciFetch } from "undici";

export interface ModelSettings {
  /** As AI_BASE_URL. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  readonly embeddingModel: string;
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

/** The models of one OpenAI-compatible server. Nothing is asked of it before the first use. */
export function createModels(settings: ModelSettings): Models {
  const { baseUrl, apiKey, model, embeddingModel, connectTimeoutMs, idleTimeoutMs } = settings;
  const dispatcher = new Agent({
    connect: { timeout: connectTimeoutMs },
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });
  const provider = createOpenAICompatible({
    name: "model",
    baseURL: baseUrl,
    ...(apiKey !== undefined && { apiKey }),
    includeUsage: true,
    supportsStructuredOutputs: true,
    // undici's own fetch is Node's, with types of its own.
    fetch: ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch,
  });
  return {
    chat: provider.chatModel(model),
    embedding: provider.embeddingModel(embeddingModel),
    settings,
    close: () => dispatcher.destroy(),
  };
}
