import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const integrationContract = defineQueue("integration", {});

export const IntegrationQueueJobAction = integrationContract.actionNames.enum;
export type IntegrationQueueJobAction = JobAction<typeof integrationContract>;
export type IntegrationQueueJobData = JobData<typeof integrationContract>;
