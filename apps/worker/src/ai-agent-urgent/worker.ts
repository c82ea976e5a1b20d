import { parseEnv } from "@millrace/env";
import { aiAgentUrgentContract } from "@millrace/worker-config/contracts";
import { startAiWorker } from "../ai-agent/start-ai-worker.ts";
import { aiAgentUrgentEnvSchema } from "./env.ts";

// For its refusal: the host reads the concurrency by the queue's name.
parseEnv(aiAgentUrgentEnvSchema);
await startAiWorker(aiAgentUrgentContract);
