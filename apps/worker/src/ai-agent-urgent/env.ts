import { workerConcurrency } from "@millrace/worker-host";
import { z } from "zod";

/** What this process reads beside what `ai-agent` reads. */
export const aiAgentUrgentEnvSchema = z.object({ AI_AGENT_URGENT_WORKER_CONCURRENCY: workerConcurrency });
