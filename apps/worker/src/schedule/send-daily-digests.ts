import { createHash } from "node:crypto";
import { type Database, type DigestRecipient, listDigestRecipients, whenAvailable } from "@millrace/database";
import type { DistributedLock } from "@millrace/redis";
import { type CodeSchedule, defineSchedule, runLocked } from "@millrace/schedules";
import { makeJobId } from "@millrace/worker-config";
import { emailContract, scheduleContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { WorkspaceDirectory } from "@millrace/workspaces";
import { lockLease } from "./lock-lease.ts";

type SendDailyDigests = HandlersOf<typeof scheduleContract>["sendDailyDigests"];

const pageSize = 200;

export const sendDailyDigestsSchedule: CodeSchedule = defineSchedule({
  id: "send-daily-digests",
  cron: "0 7 * * *",
  timeZone: "UTC",
  contract: scheduleContract,
  action: "sendDailyDigests",
  data: {},
  lock: lockLease,
});

/**
 * Enqueues a digest for everybody for whom something has been collected, but not in workspaces that are scheduled for deletion. One a day:
 * a further run of the same day adds nothing for whoever has theirs. While the database is away it waits without using up an attempt.
 */
export function createSendDailyDigests(
  distributedLock: DistributedLock,
  database: Database,
  directory: Pick<WorkspaceDirectory, "scheduledDeletions">,
): SendDailyDigests {
  return async (_, context) =>
    runLocked(distributedLock, sendDailyDigestsSchedule, context.signal, async ({ signal }) => {
      const until = context.createdAt;
      const going = new Set<string | undefined>();
      for await (const { workspaceId } of directory.scheduledDeletions()) going.add(workspaceId);
      const counts = { created: 0, duplicate: 0 };
      let after: DigestRecipient | undefined;
      for (;;) {
        const page = { until, after, limit: pageSize };
        const recipients = await whenAvailable(() => listDigestRecipients(database, page));
        for (const recipient of recipients) {
          signal.throwIfAborted();
          if (going.has(recipient.workspaceId)) continue;
          const data = { ...recipient, until: until.toISOString() };
          const { status } = await context.enqueue(emailContract, "sendDigest", data, {
            jobId: digestId(recipient, until),
          });
          counts[status] += 1;
        }
        after = recipients.at(-1);
        if (after === undefined || recipients.length < pageSize)
          return { enqueued: counts.created, duplicates: counts.duplicate };
      }
    });
}

/** An address stands in no id, since ids are logged. */
function digestId({ recipient, workspaceId = "" }: DigestRecipient, until: Date): string {
  const whom = createHash("sha256")
    .update(JSON.stringify([recipient, workspaceId]))
    .digest("hex")
    .slice(0, 24);
  return makeJobId("digest", until.toISOString().slice(0, 10), whom);
}
