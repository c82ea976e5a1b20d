import { z } from "zod";
import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

const minute = 60_000;
const days = z.int().min(0).max(3_650);

/** What the house does by itself. Every action runs on a schedule of the code, and may be enqueued by hand at any time. */
export const scheduleContract = defineQueue(
  "schedule",
  {
    /** Removes dead letters, cancelled jobs and the quarantine's entries for good, once they are old enough. */
    purgeDeadLetters: {
      data: z.object({
        /** Defaults to the worker's DEAD_LETTER_MAX_AGE_DAYS. */
        olderThanDays: days.optional(),
        dryRun: z.boolean().optional(),
      }),
      result: z.object({
        removed: z.int(),
        /** How many of them lay in quarantine. */
        quarantined: z.int().optional(),
        kept: z.int(),
        isDryRun: z.boolean(),
      }),
      timeout: 30 * minute,
      interruptible: true,
      example: { dryRun: true },
    },
    /** Removes files whose time is over, and what writers left that died. */
    sweepFileStore: {
      data: z.object({}),
      result: z.object({ removed: z.int(), leftovers: z.int() }),
      timeout: 30 * minute,
      interruptible: true,
      example: {},
    },
    /** Removes completed jobs whose time is over, which BullMQ leaves lying on an idle queue, and calls off parents that wait for ever. */
    sweepQueues: {
      data: z.object({}),
      result: z.object({
        removedCompleted: z.int(),
        removedEntries: z.int().optional().describe("What indexes held of jobs that are gone."),
        cancelledParents: z.int(),
      }),
      timeout: 30 * minute,
      interruptible: true,
      example: {},
    },
    /** Enqueues `email.sendDigest` for everybody for whom something has been collected. */
    sendDailyDigests: {
      data: z.object({}),
      result: z.object({ enqueued: z.int(), duplicates: z.int() }),
      timeout: 30 * minute,
      interruptible: true,
      example: {},
    },
    /** Closes webhook deliveries whose jobs have ended without them, and removes those that are old enough, with what they carried. */
    purgeWebhookDeliveries: {
      data: z.object({
        /** Defaults to the worker's WEBHOOK_DELIVERY_MAX_AGE_DAYS. A delivery is tried for three days. */
        olderThanDays: days.min(4).optional(),
      }),
      result: z.object({ removed: z.int() }),
      timeout: 30 * minute,
      interruptible: true,
      example: {},
    },
    /** Removes the schedules, digest items and webhook endpoints of workspaces that are scheduled for deletion, in the end all that is known of one. */
    cleanUpWorkspaces: {
      data: z.object({}),
      result: z.object({
        scheduledForDeletion: z.int(),
        removedSchedules: z.int(),
        removedDigestItems: z.int().default(0),
        removedWebhookEndpoints: z.int().default(0),
        removedAgentRuns: z.int().default(0),
        forgotten: z.int(),
      }),
      timeout: 10 * minute,
      interruptible: true,
      example: {},
    },
  },
  { isHousekeeping: true },
);

export const ScheduleQueueJobAction = scheduleContract.actionNames.enum;
export type ScheduleQueueJobAction = JobAction<typeof scheduleContract>;
export type ScheduleQueueJobData = JobData<typeof scheduleContract>;
