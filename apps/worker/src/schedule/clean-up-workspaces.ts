import { type Database, removeWorkspaceData, whenAvailable } from "@millrace/database";
import type { DistributedLock } from "@millrace/redis";
import { type CodeSchedule, defineSchedule, removeSchedulesOf, runLocked } from "@millrace/schedules";
import { scheduleContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { WorkspaceDirectory } from "@millrace/workspaces";
import { lockLease } from "./lock-lease.ts";

type CleanUpWorkspaces = HandlersOf<typeof scheduleContract>["cleanUpWorkspaces"];

const dayMs = 24 * 60 * 60_000;

export const cleanUpWorkspacesSchedule: CodeSchedule = defineSchedule({
  id: "clean-up-workspaces",
  cron: "0 4 * * *",
  timeZone: "UTC",
  contract: scheduleContract,
  action: "cleanUpWorkspaces",
  data: {},
  lock: lockLease,
});

/**
 * Removes what would still go out for workspaces that have been scheduled for deletion for `cleanUpAfterDays`: their schedules, unsent digest
 * items, webhook endpoints with their secrets, and runs of agents with what they wait to have approved. Forgets a workspace after `forgetAfterDays`. From the moment of the deletion on its schedules add nothing and its jobs are skipped when they are due; they are not
 * looked for, since nothing in a queue is sorted by workspace and every job of it would have to be read.
 */
export function createCleanUpWorkspaces(
  distributedLock: DistributedLock,
  directory: Pick<WorkspaceDirectory, "scheduledDeletions" | "forgetWorkspace">,
  database: Database,
  { cleanUpAfterDays, forgetAfterDays }: { readonly cleanUpAfterDays: number; readonly forgetAfterDays: number },
): CleanUpWorkspaces {
  return async (_, context) =>
    runLocked(distributedLock, cleanUpWorkspacesSchedule, context.signal, async ({ signal }) => {
      const report = {
        scheduledForDeletion: 0,
        removedSchedules: 0,
        removedDigestItems: 0,
        removedWebhookEndpoints: 0,
        removedAgentRuns: 0,
        forgotten: 0,
      };
      for await (const { workspaceId, forMs } of directory.scheduledDeletions()) {
        signal.throwIfAborted();
        report.scheduledForDeletion += 1;
        if (forMs < cleanUpAfterDays * dayMs) continue;
        report.removedSchedules += await removeSchedulesOf(workspaceId);
        const removed = await whenAvailable(() => removeWorkspaceData(database, workspaceId, { signal }));
        report.removedDigestItems += removed.digestItems;
        report.removedWebhookEndpoints += removed.webhookEndpoints;
        report.removedAgentRuns += removed.agentRuns;
        if (forMs < forgetAfterDays * dayMs) continue;
        if (await directory.forgetWorkspace(workspaceId)) report.forgotten += 1;
      }
      return report;
    });
}
