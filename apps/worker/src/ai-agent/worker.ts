import { aiAgentContract } from "@millrace/worker-config/contracts";
import { readSettings } from "./env.ts";
import { startAiWorker } from "./start-ai-worker.ts";

await startAiWorker(aiAgentContract, readSettings);
