import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FlowProducer, type Job, type Queue } from "bullmq";
import { DashboardJob } from "./dashboard-job.ts";

/** Reads flows job by job, so that a record that cannot be read is one node, and hides none below it or beside it. */
class DashboardFlows extends FlowProducer {
  protected override get Job() {
    return DashboardJob;
  }
}

// One for each backend, whoever shows its queues: it listens to the backend for as long as that lives.
const flowsOf = new WeakMap<object, DashboardFlows>();

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

  override getJob(id: string): Promise<Job | undefined> {
    return DashboardJob.fromId(this.#queue, id);
  }

  override async getJobs(...[states, start, end]: Parameters<BullMQAdapter["getJobs"]>): Promise<Job[]> {
    // What is paused waits, since BullMQ 6; Bull Board knows older ones too.
    const known = states.filter((state) => state !== "paused");
    const ids = await this.#queue.getRanges(known, start, end);
    const jobs = await Promise.all(ids.map((id) => this.getJob(id)));
    return jobs.filter((job) => job !== undefined);
  }

  override async getFlowProducer(): Promise<FlowProducer> {
    const backend = this.#queue.getBackend();
    const flows = flowsOf.get(backend) ?? new DashboardFlows(this.#queue.opts, () => backend);
    flowsOf.set(backend, flows);
    return flows;
  }
}
