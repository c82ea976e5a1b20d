import { type Environment, parseEnv, readTogether } from "@millrace/env";
import { aiAgentUrgentContract } from "@millrace/worker-config/contracts";
import { workerConcurrency } from "@millrace/worker-host";
import { z } from "zod";
import { aiReaders } from "../ai-agent/env.ts";

/** What this process reads beside what `ai-agent` reads. */
export const aiAgentUrgentEnvSchema = z.object({ AI_AGENT_URGENT_WORKER_CONCURRENCY: workerConcurrency });

/** Everything that this program reads. */
export function readSettings(source?: Environment) {
  // For its refusal: the host reads the concurrency by the queue's name.
  const urgent = () => parseEnv(aiAgentUrgentEnvSchema, source);
  return readTogether({ ...aiReaders(aiAgentUrgentContract), urgent }, source);
}
