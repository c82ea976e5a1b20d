import { cancelStuckParents, sweepCompleted, sweepIndexes } from "@millrace/job-admin";
import type { DistributedLock } from "@millrace/redis";
import { type CodeSchedule, defineSchedule, runLocked } from "@millrace/schedules";
import { scheduleContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { lockLease } from "./lock-lease.ts";

type SweepQueues = HandlersOf<typeof scheduleContract>["sweepQueues"];

const dayMs = 24 * 60 * 60_000;

export const sweepQueuesSchedule: CodeSchedule = defineSchedule({
  id: "sweep-queues",
  cron: "30 3 * * *",
  timeZone: "UTC",
  contract: scheduleContract,
  action: "sweepQueues",
  data: {},
  lock: lockLease,
});

/** Removes completed jobs whose time is over, and what indexes hold of jobs that are gone; and calls off parents that wait for children which have ended without a word. */
export function createSweepQueues(distributedLock: DistributedLock, waitingParentMaxAgeDays: number): SweepQueues {
  return async (_, context) =>
    runLocked(distributedLock, sweepQueuesSchedule, context.signal, async ({ signal }) => ({
      removedCompleted: await sweepCompleted(signal),
      removedEntries: await sweepIndexes(signal),
      cancelledParents: await cancelStuckParents(waitingParentMaxAgeDays * dayMs, signal),
    }));
}
