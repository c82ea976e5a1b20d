import { type Database, purgeWebhookDeliveries, whenAvailable } from "@millrace/database";
import type { DistributedLock } from "@millrace/redis";
import { type CodeSchedule, defineSchedule, runLocked } from "@millrace/schedules";
import { scheduleContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { closeEndedDeliveries } from "./close-ended-deliveries.ts";
import { lockLease } from "./lock-lease.ts";

type PurgeWebhookDeliveries = HandlersOf<typeof scheduleContract>["purgeWebhookDeliveries"];

const dayMs = 24 * 60 * 60_000;

export const purgeWebhookDeliveriesSchedule: CodeSchedule = defineSchedule({
  id: "purge-webhook-deliveries",
  cron: "30 3 * * *",
  timeZone: "UTC",
  contract: scheduleContract,
  action: "purgeWebhookDeliveries",
  data: {},
  lock: lockLease,
});

/**
 * Closes webhook deliveries whose jobs have ended without them, and removes those that are too old to be sent again: nothing else empties
 * their table. One whose job lives stays, however old it is.
 *
 * @param batchSize how many one statement removes
 */
export function createPurgeWebhookDeliveries(
  distributedLock: DistributedLock,
  database: Database,
  maxAgeDays: number,
  batchSize: number = 1_000,
): PurgeWebhookDeliveries {
  return async ({ olderThanDays = maxAgeDays }, context) =>
    runLocked(distributedLock, purgeWebhookDeliveriesSchedule, context.signal, async ({ signal }) => {
      await closeEndedDeliveries(database, signal, batchSize);
      const batch = { olderThanMs: olderThanDays * dayMs, limit: batchSize };
      let removed = 0;
      for (;;) {
        signal.throwIfAborted();
        const count = await whenAvailable(() => purgeWebhookDeliveries(database, batch));
        removed += count;
        if (count < batchSize) return { removed };
      }
    });
}
