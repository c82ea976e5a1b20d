import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

/** No actions yet: the queue exists and accepts no job until its worker brings the first one. */
export const scheduleContract = defineQueue("schedule", {});

export const ScheduleQueueJobAction = scheduleContract.actionNames.enum;
export type ScheduleQueueJobAction = JobAction<typeof scheduleContract>;
export type ScheduleQueueJobData = JobData<typeof scheduleContract>;
