import type { CodeSchedule } from "@millrace/schedules";
import type { ScheduleQueueJobAction } from "@millrace/worker-config/contracts";
import { cleanUpWorkspacesSchedule } from "./clean-up-workspaces.ts";
import { purgeDeadLettersSchedule } from "./purge-dead-letters.ts";
import { purgeWebhookDeliveriesSchedule } from "./purge-webhook-deliveries.ts";
import { sendDailyDigestsSchedule } from "./send-daily-digests.ts";
import { sweepFileStoreSchedule } from "./sweep-file-store.ts";
import { sweepQueuesSchedule } from "./sweep-queues.ts";

// An action of this queue without a schedule would never run: the compiler asks for it.
const ofActions: Record<ScheduleQueueJobAction, CodeSchedule> = {
  purgeDeadLetters: purgeDeadLettersSchedule,
  purgeWebhookDeliveries: purgeWebhookDeliveriesSchedule,
  sweepFileStore: sweepFileStoreSchedule,
  sweepQueues: sweepQueuesSchedule,
  sendDailyDigests: sendDailyDigestsSchedule,
  cleanUpWorkspaces: cleanUpWorkspacesSchedule,
};

/** Every schedule that the code owns. One whose job is another queue's goes here as well. */
export const codeSchedules: readonly CodeSchedule[] = Object.values(ofActions);
