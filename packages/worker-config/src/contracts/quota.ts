import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const quotaContract = defineQueue("quota", {});

export const QuotaQueueJobAction = quotaContract.actionNames.enum;
export type QuotaQueueJobAction = JobAction<typeof quotaContract>;
export type QuotaQueueJobData = JobData<typeof quotaContract>;
