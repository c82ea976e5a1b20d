import { aiAgentContract } from "./ai-agent.ts";
import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** The same actions as `aiAgent`, with a worker of their own: what a person waits for does not stand behind what nobody waits for. */
export const aiAgentUrgentContract = defineQueue("aiAgentUrgent", aiAgentContract.actions);

export const AiAgentUrgentQueueJobAction = aiAgentUrgentContract.actionNames.enum;
export type AiAgentUrgentQueueJobAction = JobAction<typeof aiAgentUrgentContract>;
export type AiAgentUrgentQueueJobData = JobData<typeof aiAgentUrgentContract>;
