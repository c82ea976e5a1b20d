import { openDatabase } from "@millrace/database";
import { createFileStore } from "@millrace/file-store";
import { createJobEventWriter } from "@millrace/job-events";
import { createRedis } from "@millrace/redis";
import { createSafeClient } from "@millrace/safe-http";
import { startProgram } from "@millrace/shutdown";
import type { aiAgentContract, aiAgentUrgentContract } from "@millrace/worker-config/contracts";
import { runWorker, type WorkerService } from "@millrace/worker-host";
import { createAgentTools } from "./agent-tools.ts";
import { createAskModel } from "./ask-model.ts";
import type { readSettings } from "./env.ts";
import { aiAgentHandlers } from "./handlers.ts";
import { createModelTurns } from "./model-turns.ts";
import { createModels } from "./models.ts";

/** The life of a worker process for language models: `aiAgent` and `aiAgentUrgent` differ by their queue alone. */
export async function startAiWorker(
  contract: typeof aiAgentContract | typeof aiAgentUrgentContract,
  read: typeof readSettings,
): Promise<void> {
  const { settings, log } = startProgram(`worker:${contract.name}`, read);
  const { ai: env } = settings;
  const { DATABASE_URL: url, DATABASE_POOL_MAX: poolMax } = settings.database;
  const database = openDatabase({ url, poolMax, log });
  const files = createFileStore(settings.files);
  const models = createModels({
    baseUrl: env.AI_BASE_URL,
    apiKey: env.AI_API_KEY,
    model: env.AI_MODEL,
    embeddingModel: env.AI_EMBEDDING_MODEL,
    maxOutputTokens: env.AI_MAX_OUTPUT_TOKENS,
    connectTimeoutMs: env.AI_CONNECT_TIMEOUT_MS,
    idleTimeoutMs: env.AI_IDLE_TIMEOUT_MS,
  });
  // It fails at once during an outage, and the job is put off.
  const redis = createRedis("producer", settings.redis.REDIS_URL, (err) =>
    log.warn({ code: "redis_unreachable", err }, "cannot ask for the model's rate, nor tell who follows, trying again"),
  );
  const { QUEUE_PREFIX: prefix } = settings.queue;
  const turnsOf = (model: string) =>
    createModelTurns({
      redis,
      prefix,
      name: `${new URL(env.AI_BASE_URL).host}/${model}`,
      ofModel: { requestsPerMinute: env.AI_REQUESTS_PER_MINUTE, tokensPerMinute: env.AI_TOKENS_PER_MINUTE },
      ofWorkspace: {
        requestsPerMinute: env.AI_WORKSPACE_REQUESTS_PER_MINUTE,
        tokensPerMinute: env.AI_WORKSPACE_TOKENS_PER_MINUTE,
      },
    });
  const prices = { input: env.AI_INPUT_PRICE_PER_MILLION, output: env.AI_OUTPUT_PRICE_PER_MILLION };
  const callTimeoutMs = env.AI_CALL_TIMEOUT_MS;
  const handlers = aiAgentHandlers({
    database,
    ask: createAskModel({ model: models.chat, prices, callTimeoutMs, takeTurn: turnsOf(env.AI_MODEL) }),
    prices,
    maxOutputTokens: env.AI_MAX_OUTPUT_TOKENS,
    toolsFor: createAgentTools({
      database,
      request: createSafeClient({ allowPrivate: env.AI_FETCH_ALLOW_PRIVATE }),
    }),
    append: createJobEventWriter({ redis, prefix }).append,
    models,
    callTimeoutMs,
    takeTurn: turnsOf(env.AI_EMBEDDING_MODEL),
    files,
  });
  const services: Record<string, WorkerService> = {
    database,
    files,
    redis: { check: () => redis.ping(), close: async () => redis.disconnect() },
    // Whether its server answers is not asked: it costs money there, and a job that finds it away waits.
    models: { check: async () => {}, close: () => models.close() },
  };
  // Two contracts of the same actions, which the compiler sees as two.
  if (contract.name === "aiAgent") await runWorker(contract, handlers, services);
  else await runWorker(contract, handlers, services);
}
