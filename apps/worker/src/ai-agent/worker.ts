import { aiAgentContract } from "@millrace/worker-config/contracts";
import { startAiWorker } from "./start-ai-worker.ts";

await startAiWorker(aiAgentContract);
