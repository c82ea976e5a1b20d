import { findJob } from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import { Job, type JobProgress, type MinimalQueue } from "bullmq";

/** A job as the dashboard reads it. One whose record cannot be read is there all the same, and marked as such. */
export class DashboardJob<Data, Result, Name extends string, Progress extends JobProgress> extends Job<
  Data,
  Result,
  Name,
  Progress
> {
  static override async fromId<Data, Result, Name extends string>(
    queue: MinimalQueue,
    id: string,
  ): Promise<Job<Data, Result, Name> | undefined> {
    try {
      return await Job.fromId<Data, Result, Name>(queue, id);
    } catch (error) {
      if (!isOfDamagedRecord(error)) throw error;
      return standIn(queue, id);
    }
  }
}

/** What BullMQ throws at a record that is no job; anything else, such as an outage, is not about this record. */
function isOfDamagedRecord(error: unknown): boolean {
  if (error instanceof SyntaxError || error instanceof TypeError) return true;
  return error instanceof Error && error.message.startsWith("WRONGTYPE");
}

async function standIn<Data, Result, Name extends string>(
  queue: MinimalQueue,
  id: string,
): Promise<Job<Data, Result, Name>> {
  const { data: name } = queueNames.safeParse(queue.name);
  const known = name && (await findJob(name, id).catch(() => undefined));
  const title = `damaged record${known?.action ? ` of ${known.action}` : ""}`;
  // Nobody knows what the record held; the dashboard shows what is here.
  const job = new Job(queue, title, {}, {}, id) as Job<Data, Result, Name>;
  job.failedReason = known?.error?.message ?? "The job cannot run: its record cannot be read.";
  job.timestamp = Date.parse(known?.createdAt ?? "");
  return job;
}
