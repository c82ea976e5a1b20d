import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const aiAgentUrgentContract = defineQueue("aiAgentUrgent", {});

export const AiAgentUrgentQueueJobAction = aiAgentUrgentContract.actionNames.enum;
export type AiAgentUrgentQueueJobAction = JobAction<typeof aiAgentUrgentContract>;
export type AiAgentUrgentQueueJobData = JobData<typeof aiAgentUrgentContract>;
