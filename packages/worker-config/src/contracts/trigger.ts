import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const triggerContract = defineQueue("trigger", {});

export const TriggerQueueJobAction = triggerContract.actionNames.enum;
export type TriggerQueueJobAction = JobAction<typeof triggerContract>;
export type TriggerQueueJobData = JobData<typeof triggerContract>;
