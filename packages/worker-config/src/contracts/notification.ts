import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const notificationContract = defineQueue("notification", {});

export const NotificationQueueJobAction = notificationContract.actionNames.enum;
export type NotificationQueueJobAction = JobAction<typeof notificationContract>;
export type NotificationQueueJobData = JobData<typeof notificationContract>;
