import { aiAgentUrgentContract } from "@millrace/worker-config/contracts";
import { startAiWorker } from "../ai-agent/start-ai-worker.ts";
import { readSettings } from "./env.ts";

await startAiWorker(aiAgentUrgentContract, readSettings);
