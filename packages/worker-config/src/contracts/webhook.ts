import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const webhookContract = defineQueue("webhook", {});

export const WebhookQueueJobAction = webhookContract.actionNames.enum;
export type WebhookQueueJobAction = JobAction<typeof webhookContract>;
export type WebhookQueueJobData = JobData<typeof webhookContract>;
