import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const heavyContract = defineQueue("heavy", {});

export const HeavyQueueJobAction = heavyContract.actionNames.enum;
export type HeavyQueueJobAction = JobAction<typeof heavyContract>;
export type HeavyQueueJobData = JobData<typeof heavyContract>;
