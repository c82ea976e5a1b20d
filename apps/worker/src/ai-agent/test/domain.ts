import { randomUUID } from "node:crypto";
import type { Database } from "@millrace/database";
import { createSafeClient } from "@millrace/safe-http";
import { aiAgentContract } from "@millrace/worker-config/contracts";
import type { JobContext } from "@millrace/worker-host";
import { jobContext } from "@millrace/worker-host/testing";
import { afterAll } from "vitest";
import { createAgentTools } from "../agent-tools.ts";
import { createAskModel } from "../ask-model.ts";
import { type AiAgentParts, aiAgentHandlers } from "../handlers.ts";
import { noLimit } from "../model-turns.ts";
import { createModels, type Models } from "../models.ts";

export const prices = { input: 1, output: 10 };

/** The domain's collaborators as its worker makes them, on a model server of the test's. */
export function useAgentDomain(database: () => Database, baseUrl: () => string) {
  const opened: Models[] = [];
  afterAll(() => Promise.all(opened.map((models) => models.close())));
  const parts = ({
    idleTimeoutMs = 5_000,
    callTimeoutMs = 10_000,
    takeTurn = noLimit,
    ...overrides
  }: Partial<AiAgentParts> & { idleTimeoutMs?: number } = {}): AiAgentParts => {
    const models = createModels({
      baseUrl: baseUrl(),
      apiKey: "a-key",
      model: "scripted",
      embeddingModel: "embedding",
      maxOutputTokens: 1_000,
      connectTimeoutMs: 2_000,
      idleTimeoutMs,
    });
    opened.push(models);
    return {
      database: database(),
      ask: createAskModel({ model: models.chat, prices, callTimeoutMs, takeTurn }),
      prices,
      maxOutputTokens: 1_000,
      toolsFor: createAgentTools({ database: database(), request: createSafeClient({ allowPrivate: true }) }),
      models,
      callTimeoutMs,
      takeTurn,
      files: { put: expectNoFile, open: expectNoFile },
      ...overrides,
    };
  };
  return {
    parts,
    /** One attempt of `runAgent`, and what came of it. */
    runAgent: async (
      data: object,
      { context = {}, ...overrides }: Parameters<typeof parts>[0] & { context?: Partial<JobContext> } = {},
    ) => {
      const parsed = aiAgentContract.actions.runAgent.data.parse({ prompt: "Go.", ...data });
      const attempt = agentContext({ ...context, workspaceId: parsed.workspaceId });
      return aiAgentHandlers(parts(overrides))
        .runAgent(parsed, attempt)
        .then(
          (result) => ({ result, error: undefined }),
          (error: unknown) => ({ result: undefined, error }),
        );
    },
  };
}

const expectNoFile = async () => Promise.reject(new Error("expected no file"));

export function agentContext(overrides: Partial<JobContext> = {}): JobContext {
  return jobContext({ queue: "aiAgent", action: "runAgent", jobId: randomUUID(), ...overrides });
}
