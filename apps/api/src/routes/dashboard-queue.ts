import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { findJob } from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import { Job, type Queue } from "bullmq";

/**
 * A queue as the dashboard reads it: job by job, so that a record that cannot be read is one row, marked as such, and hides no other. Bull Board takes
 * queues as this class alone.
 */
export class DashboardQueue extends BullMQAdapter {
  readonly #queue: Queue;

  constructor(queue: Queue) {
    super(queue, { readOnlyMode: true });
    this.#queue = queue;
  }

  override async getJob(id: string): Promise<Job | undefined> {
    try {
      return await super.getJob(id);
    } catch (error) {
      if (!isOfDamagedRecord(error)) throw error;
      return standIn(this.#queue, id);
    }
  }

  override async getJobs(...[states, start, end]: Parameters<BullMQAdapter["getJobs"]>): Promise<Job[]> {
    // What is paused waits, since BullMQ 6; Bull Board knows older ones too.
    const known = states.filter((state) => state !== "paused");
    const ids = await this.#queue.getRanges(known, start, end);
    const jobs = await Promise.all(ids.map((id) => this.getJob(id)));
    return jobs.filter((job) => job !== undefined);
  }
}

/** What BullMQ throws at a record that is no job; anything else, such as an outage, is not about this record. */
function isOfDamagedRecord(error: unknown): boolean {
  if (error instanceof SyntaxError || error instanceof TypeError) return true;
  return error instanceof Error && error.message.startsWith("WRONGTYPE");
}

async function standIn(queue: Queue, id: string): Promise<Job> {
  const known = await findJob(queueNames.parse(queue.name), id).catch(() => undefined);
  const job = new Job(queue, `damaged record${known?.action ? ` of ${known.action}` : ""}`, {}, {}, id);
  job.failedReason = known?.error?.message ?? "The job cannot run: its record cannot be read.";
  job.timestamp = Date.parse(known?.createdAt ?? "");
  return job;
}
