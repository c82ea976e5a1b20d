import type { FileStore } from "@millrace/file-store";
import type { aiAgentContract } from "@millrace/worker-config/contracts";
import { type HandlersOf, TransientError } from "@millrace/worker-host";
import { embedMany } from "ai";
import type { Prices } from "./ask-model.ts";
import { failureOfModel } from "./model-failure.ts";
import { estimateTokens, type TakeModelTurn } from "./model-turns.ts";
import type { Models } from "./models.ts";

export type EmbedText = HandlersOf<typeof aiAgentContract>["embedText"];

export interface EmbedTextParts {
  readonly models: Models;
  readonly prices: Prices;
  readonly callTimeoutMs: number;
  readonly takeTurn: TakeModelTurn;
  readonly files: Pick<FileStore, "put">;
}

/** More than this of JSON belongs into a file and not into a job's record in Redis. */
const mostInlineBytes = 32_768;
/** Of one request: what common servers take. */
const textsPerRequest = 64;

/**
 * Turns texts into vectors. Few of them are the job's result; more go to the file store, and the result refers to the file. A further attempt
 * asks anew, since nothing else than tokens is lost by it; a file that nothing refers to goes when its time is over.
 */
export function createEmbedText({ models, prices, callTimeoutMs, takeTurn, files }: EmbedTextParts): EmbedText {
  return async ({ texts }, { queue, jobId, workspaceId, signal }) => {
    const vectors: number[][] = [];
    let inputTokens = 0;
    for (let start = 0; start < texts.length; start += textsPerRequest) {
      const values = texts.slice(start, start + textsPerRequest);
      const estimatedTokens = estimateTokens(values.join(" "));
      const tellUsedTokens = await takeTurn({ asker: `${queue}/${jobId}`, workspaceId, estimatedTokens }, signal);
      const total = AbortSignal.timeout(callTimeoutMs);
      try {
        const abortSignal = AbortSignal.any([signal, total]);
        const answered = await embedMany({ model: models.embedding, values, maxRetries: 0, abortSignal });
        vectors.push(...answered.embeddings);
        // A server that counts nothing gives NaN.
        const usedTokens = answered.usage.tokens || 0;
        inputTokens += usedTokens;
        await tellUsedTokens(usedTokens || estimatedTokens);
      } catch (error) {
        signal.throwIfAborted();
        if (!total.aborted) throw failureOfModel(error);
        throw new TransientError(`The model gave no whole answer within ${callTimeoutMs} ms.`, {
          code: "model_timeout",
        });
      }
    }
    const costUsd = (inputTokens * prices.input) / 1_000_000;
    const common = {
      model: models.settings.embeddingModel,
      dimensions: vectors[0]?.length ?? 0,
      count: vectors.length,
      usage: { inputTokens, outputTokens: 0, costUsd },
    };
    const json = Buffer.from(JSON.stringify({ vectors }));
    if (json.length <= mostInlineBytes) return { ...common, vectors, file: null };
    const options = { name: `vectors-${jobId}.json`.slice(-255), contentType: "application/json", signal };
    return { ...common, vectors: null, file: await files.put(json, options) };
  };
}
