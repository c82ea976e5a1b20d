import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const broadcastContract = defineQueue("broadcast", {});

export const BroadcastQueueJobAction = broadcastContract.actionNames.enum;
export type BroadcastQueueJobAction = JobAction<typeof broadcastContract>;
export type BroadcastQueueJobData = JobData<typeof broadcastContract>;
