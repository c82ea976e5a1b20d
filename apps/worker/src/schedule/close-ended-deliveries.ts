import { closeWebhookDelivery, type Database, listPendingWebhookDeliveries, whenAvailable } from "@millrace/database";
import { findJob } from "@millrace/job-admin";

const askedAtOnce = 50;

/**
 * Ends the deliveries that wait for nothing any more. A job can end without its delivery: the host ended its last attempt, it was put off too
 * often, somebody cancelled it, or the database was away when the endpoint had answered.
 *
 * @param pageSize how many one statement reads
 */
export async function closeEndedDeliveries(database: Database, signal: AbortSignal, pageSize: number): Promise<void> {
  let after: string | undefined;
  do {
    const pending = await whenAvailable(() => listPendingWebhookDeliveries(database, { after, limit: pageSize }));
    for (let start = 0; start < pending.length; start += askedAtOnce) {
      signal.throwIfAborted();
      await Promise.all(pending.slice(start, start + askedAtOnce).map((delivery) => closeIfEnded(database, delivery)));
    }
    after = pending.length === pageSize ? pending.at(-1)?.position : undefined;
  } while (after !== undefined);
}

async function closeIfEnded(database: Database, { id, jobId }: { id: string; jobId: string }): Promise<void> {
  const end = await endOf(jobId);
  if (end) await whenAvailable(() => closeWebhookDelivery(database, id, end));
}

async function endOf(jobId: string): Promise<Parameters<typeof closeWebhookDelivery>[2] | undefined> {
  const job = await findJob("webhook", jobId);
  // Whether it was delivered nobody can tell any more; to send it again is harmless.
  if (!job) return { status: "failed", errorCode: "job_gone" };
  switch (job.status) {
    case "success":
      return { status: "success" };
    case "skipped":
      return { status: "skipped", errorCode: job.error?.code };
    case "failed":
    case "cancelled":
      return { status: "failed", errorCode: job.error?.code };
    case "pending":
    case "running":
    case "retrying":
      return undefined;
  }
}
