import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const defaultContract = defineQueue("default", {});

export const DefaultQueueJobAction = defaultContract.actionNames.enum;
export type DefaultQueueJobAction = JobAction<typeof defaultContract>;
export type DefaultQueueJobData = JobData<typeof defaultContract>;
