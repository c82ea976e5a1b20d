import { purgeDeadLetters } from "@millrace/job-admin";
import type { DistributedLock } from "@millrace/redis";
import { type CodeSchedule, defineSchedule, runLocked } from "@millrace/schedules";
import { scheduleContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { lockLease } from "./lock-lease.ts";

type PurgeDeadLetters = HandlersOf<typeof scheduleContract>["purgeDeadLetters"];

const dayMs = 24 * 60 * 60_000;

export const purgeDeadLettersSchedule: CodeSchedule = defineSchedule({
  id: "purge-dead-letters",
  cron: "0 3 * * *",
  timeZone: "UTC",
  contract: scheduleContract,
  action: "purgeDeadLetters",
  data: {},
  lock: lockLease,
});

/** Removes what failed too long ago for anybody to replay it: nothing else empties the failed sets. */
export function createPurgeDeadLetters(distributedLock: DistributedLock, maxAgeDays: number): PurgeDeadLetters {
  return async ({ olderThanDays = maxAgeDays, dryRun = false }, context) =>
    runLocked(distributedLock, purgeDeadLettersSchedule, context.signal, async ({ signal }) => {
      const report = await purgeDeadLetters({ olderThanMs: olderThanDays * dayMs, dryRun }, signal);
      const kept = Object.values(report.kept).reduce((sum, count) => sum + count, 0);
      const { removed, quarantined, isDryRun } = report;
      return { removed, quarantined, kept, isDryRun };
    });
}
