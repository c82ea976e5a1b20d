import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const aiAgentContract = defineQueue("aiAgent", {});

export const AiAgentQueueJobAction = aiAgentContract.actionNames.enum;
export type AiAgentQueueJobAction = JobAction<typeof aiAgentContract>;
export type AiAgentQueueJobData = JobData<typeof aiAgentContract>;
