import type { Database } from "@millrace/database";
import type { FileStore } from "@millrace/file-store";
import type { aiAgentContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { createAskEmbeddings } from "./ask-embeddings.ts";
import type { Prices } from "./ask-model.ts";
import { type ModelRun, openModelRun } from "./model-run.ts";
import type { TakeModelTurn } from "./model-turns.ts";
import type { Models } from "./models.ts";
import { readVectors, type StoredVectors, storeVectors } from "./stored-vectors.ts";

export type EmbedText = HandlersOf<typeof aiAgentContract>["embedText"];

export interface EmbedTextParts {
  readonly database: Database;
  readonly models: Models;
  readonly prices: Prices;
  readonly callTimeoutMs: number;
  readonly takeTurn: TakeModelTurn;
  readonly files: Pick<FileStore, "put" | "open">;
}

/** Of one request: what common servers take. */
const textsPerRequest = 64;
/** A job is put off for a day at most, and its attempts come within it. */
const requestFileTtlMs = 2 * 86_400_000;

/**
 * Turns texts into vectors. Few of them are the job's result; more go to the file store, and the result refers to the file. What each request
 * gave is stored as a step of the job's run, so that a further attempt asks for none of it again: any request may have to wait for its turn.
 */
export function createEmbedText(parts: EmbedTextParts): EmbedText {
  const { database, models, files } = parts;
  const ask = createAskEmbeddings({ ...parts, model: models.embedding });
  return async ({ texts }, context) => {
    const { jobId, workspaceId, signal } = context;
    const name = `vectors-${jobId}.json`.slice(-255);
    const run = await openModelRun(database, context);
    const known = storedRequests(run);
    const embed = async (start: number): Promise<number[][]> => {
      signal.throwIfAborted();
      const request = known.get(start);
      const stored = request && (await readVectors(files, request, signal));
      if (stored) return stored;
      const values = texts.slice(start, start + textsPerRequest);
      const { vectors, ...answered } = await ask({ values, asker: run.id, workspaceId, signal });
      const kept = await storeVectors(files, vectors, { name, ttlMs: requestFileTtlMs, signal });
      const text = JSON.stringify({ start, ...kept } satisfies StoredRequest);
      await run.record({ ...answered, answer: { text, toolCalls: [], messages: [], finishReason: "stop" } });
      return vectors;
    };
    const vectors: number[][] = [];
    for (let start = 0; start < texts.length; start += textsPerRequest) vectors.push(...(await embed(start)));
    const { inputTokens, outputTokens, costUsd } = run.spent();
    return {
      model: models.settings.embeddingModel,
      dimensions: vectors[0]?.length ?? 0,
      count: vectors.length,
      usage: { inputTokens, outputTokens, costUsd },
      ...(await storeVectors(files, vectors, { name, signal })),
    };
  };
}

/** What a step of such a run holds as its text. */
type StoredRequest = StoredVectors & {
  /** Which of the job's texts was its first. */
  readonly start: number;
};

/** By their first text; of several requests for the same texts the last. */
function storedRequests(run: ModelRun): Map<number, StoredRequest> {
  return new Map(
    run.steps.map(({ answer }) => {
      // As the handler above recorded it.
      const request: StoredRequest = JSON.parse(answer.text);
      return [request.start, request];
    }),
  );
}
