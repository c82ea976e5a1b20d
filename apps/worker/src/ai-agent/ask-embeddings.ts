import { TransientError } from "@millrace/worker-host";
import { type EmbeddingModel, embedMany } from "ai";
import { type Prices, toTokenCount, type Usage } from "./ask-model.ts";
import { failureOfModel } from "./model-failure.ts";
import { estimateTokens, type TakeModelTurn } from "./model-turns.ts";

export interface EmbeddingQuestion {
  readonly values: readonly string[];
  /** As that of a `Question`. */
  readonly asker: string;
  readonly workspaceId: string | undefined;
  readonly signal: AbortSignal;
}

export type AskEmbeddings = (
  question: EmbeddingQuestion,
) => Promise<{ readonly vectors: number[][]; readonly usage: Usage; readonly durationMs: number }>;

/**
 * Asks a model once for the vectors of some texts. The queue alone tries again: the SDK does not.
 *
 * @param parts.callTimeoutMs for the whole answer
 * @returns a function that throws what `failureOfModel` makes of a failure, or the reason of its signal
 */
export function createAskEmbeddings(parts: {
  readonly model: EmbeddingModel;
  readonly prices: Prices;
  readonly callTimeoutMs: number;
  readonly takeTurn: TakeModelTurn;
}): AskEmbeddings {
  const { model, prices, callTimeoutMs, takeTurn } = parts;
  return async ({ values, asker, workspaceId, signal }) => {
    const estimatedTokens = estimateTokens(values.join(" "));
    const tellUsedTokens = await takeTurn({ asker, workspaceId, estimatedTokens }, signal);
    const startedAt = performance.now();
    const total = AbortSignal.timeout(callTimeoutMs);
    try {
      const abortSignal = AbortSignal.any([signal, total]);
      const { embeddings, usage } = await embedMany({ model, values: [...values], maxRetries: 0, abortSignal });
      // A server that counts nothing gives NaN.
      const inputTokens = toTokenCount(usage.tokens) || estimatedTokens;
      await tellUsedTokens(inputTokens);
      const costUsd = (inputTokens * prices.input) / 1_000_000;
      const durationMs = Math.round(performance.now() - startedAt);
      return { vectors: embeddings, usage: { inputTokens, outputTokens: 0, costUsd }, durationMs };
    } catch (error) {
      signal.throwIfAborted();
      if (!total.aborted) throw failureOfModel(error);
      throw new TransientError(`The model gave no whole answer within ${callTimeoutMs} ms.`, { code: "model_timeout" });
    }
  };
}
