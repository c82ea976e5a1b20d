import { cancelStuckParents, sweepCompleted, sweepIndexes } from "@millrace/job-admin";
import type { Logger } from "@millrace/logger";
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
    runLocked(distributedLock, sweepQueuesSchedule, context.signal, async ({ signal }) =>
      runEach(
        {
          removedCompleted: () => sweepCompleted(signal),
          removedEntries: () => sweepIndexes(signal),
          cancelledParents: () => cancelStuckParents(waitingParentMaxAgeDays * dayMs, signal),
        },
        context.log,
      ),
    );
}

/**
 * Runs one sweep after the other, whatever became of those before it: one that fails every night would keep the others from their work.
 *
 * @throws Error at the end, which names the first that failed and has its reason as the cause; the log has all
 */
export async function runEach<Name extends string>(
  sweeps: Readonly<Record<Name, () => Promise<number>>>,
  log: Logger,
): Promise<Record<Name, number>> {
  const counts: Partial<Record<Name, number>> = {};
  const failures: { name: Name; err: unknown }[] = [];
  for (const name in sweeps) {
    try {
      counts[name] = await sweeps[name]();
    } catch (err) {
      log.error({ code: "sweep_failed", sweep: name, err }, "a sweep failed; the others run all the same");
      failures.push({ name, err });
    }
  }
  if (failures[0]) {
    const names = failures.map(({ name }) => name).join(", ");
    throw new Error(`Of the nightly sweeps these failed: ${names}. The others ran.`, { cause: failures[0].err });
  }
  // Each has a count, or an error has been thrown.
  return counts as Record<Name, number>;
}
