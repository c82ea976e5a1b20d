import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const chatContract = defineQueue("chat", {});

export const ChatQueueJobAction = chatContract.actionNames.enum;
export type ChatQueueJobAction = JobAction<typeof chatContract>;
export type ChatQueueJobData = JobData<typeof chatContract>;
