import type { FileStore } from "@millrace/file-store";
import type { DistributedLock } from "@millrace/redis";
import { type CodeSchedule, defineSchedule, runLocked } from "@millrace/schedules";
import { scheduleContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { lockLease } from "./lock-lease.ts";

type SweepFileStore = HandlersOf<typeof scheduleContract>["sweepFileStore"];

export const sweepFileStoreSchedule: CodeSchedule = defineSchedule({
  id: "sweep-file-store",
  // An expired file is served to nobody, but keeps its room until it is swept.
  cron: "15 * * * *",
  timeZone: "UTC",
  contract: scheduleContract,
  action: "sweepFileStore",
  data: {},
  lock: lockLease,
});

/** Removes the files whose time is over, and what writers left that died. */
export function createSweepFileStore(
  distributedLock: DistributedLock,
  files: Pick<FileStore, "sweepExpired">,
): SweepFileStore {
  return async (_, context) =>
    runLocked(distributedLock, sweepFileStoreSchedule, context.signal, async ({ signal }) => {
      const report = { removed: 0, leftovers: 0 };
      for (;;) {
        const { removed, leftovers, hasMore } = await files.sweepExpired({ signal });
        report.removed += removed;
        report.leftovers += leftovers;
        if (!hasMore) return report;
      }
    });
}
