import { readDatabaseEnv } from "@millrace/database";
import { type Environment, parseEnv, readTogether } from "@millrace/env";
import { readFileStoreSettings } from "@millrace/file-store";
import { allowPrivateSchema } from "@millrace/safe-http";
import { aiAgentContract, type QueueContract } from "@millrace/worker-config/contracts";
import { workerConcurrency, workerReaders } from "@millrace/worker-host";
import { z } from "zod";

const price = z.coerce.number().min(0).max(10_000).default(0);
const perMinute = (most: number) => z.coerce.number().int().min(1).max(most).optional();
const duration = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

export const aiEnvSchema = z.object({
  NODE_ENV: z.enum(["development", "test", "production"]).default("development"),
  AI_AGENT_WORKER_CONCURRENCY: workerConcurrency,
  AI_BASE_URL: z
    .url({
      protocol: /^https?$/,
      error: "expected the http(s) URL of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1",
    })
    .default("http://127.0.0.1:11434/v1"),
  AI_API_KEY: z.string().optional(),
  AI_MODEL: z.string().default("llama3.2"),
  AI_EMBEDDING_MODEL: z.string().default("nomic-embed-text"),
  AI_MAX_OUTPUT_TOKENS: z.coerce.number().int().min(16).max(200_000).default(4_096),
  AI_CONNECT_TIMEOUT_MS: duration(100, 60_000).default(5_000),
  AI_IDLE_TIMEOUT_MS: duration(100, 600_000).default(60_000),
  AI_CALL_TIMEOUT_MS: duration(1_000, 600_000).default(300_000),
  AI_REQUESTS_PER_MINUTE: perMinute(1_000_000),
  AI_TOKENS_PER_MINUTE: perMinute(1_000_000_000),
  AI_WORKSPACE_REQUESTS_PER_MINUTE: perMinute(1_000_000),
  AI_WORKSPACE_TOKENS_PER_MINUTE: perMinute(1_000_000_000),
  AI_INPUT_PRICE_PER_MILLION: price,
  AI_OUTPUT_PRICE_PER_MILLION: price,
  AI_FETCH_ALLOW_PRIVATE: allowPrivateSchema({ isProduction: false }),
});

export type AiEnv = z.output<typeof aiEnvSchema>;

/** @throws EnvironmentError also when production would let a model read pages of its own network */
export function readAiEnv(source?: Environment): AiEnv {
  const isProduction = (source ?? process.env).NODE_ENV === "production";
  const schema = aiEnvSchema.extend({ AI_FETCH_ALLOW_PRIVATE: allowPrivateSchema({ isProduction }) });
  return parseEnv(schema, source);
}

/** What a program for language models reads, whichever its queue. */
export function aiReaders(contract: QueueContract) {
  return { ai: readAiEnv, database: readDatabaseEnv, files: readFileStoreSettings, ...workerReaders(contract) };
}

/** Everything that this program reads. */
export function readSettings(source?: Environment) {
  return readTogether(aiReaders(aiAgentContract), source);
}
