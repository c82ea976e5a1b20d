import { randomUUID } from "node:crypto";
import type { ActionInput, JobAction, QueueContract } from "./contracts/define-queue.ts";
import type { EnqueueOptions } from "./contracts/job-options.ts";
import type { Enqueued } from "./enqueued.ts";
import { prepareJob } from "./jobs/prepare-job.ts";
import { followed } from "./on-enqueue.ts";
import { openQueue } from "./queues/queue-of.ts";

/**
 * Adds a job: validated, within a deadline, and answered from what is stored. Beside it `queue.add` is plain BullMQ.
 *
 * @throws InvalidJobError whose `code` and `issues` say what is wrong; the message names the field and never holds the payload
 * @throws QueueUnavailableError after 1.5 seconds without Redis; it says whether the job may have been added
 */
export async function enqueue<Contract extends QueueContract, Action extends JobAction<Contract>>(
  contract: Contract,
  action: Action,
  data: ActionInput<Contract, Action>,
  options: EnqueueOptions = {},
): Promise<Enqueued> {
  return enqueueUnchecked(contract, action, data, options);
}

/** `enqueue` for callers that hold names and data from outside, such as an API: what the compiler cannot check, this does. */
export async function enqueueUnchecked(
  contract: QueueContract,
  action: string,
  data: unknown,
  options: unknown = {},
): Promise<Enqueued> {
  return followed(contract.name, action, options, (kept) => add(contract, action, data, kept));
}

async function add(contract: QueueContract, action: string, data: unknown, options: unknown): Promise<Enqueued> {
  const job = prepareJob(action, data, options);
  const queue = openQueue(contract);
  // With a dedupe key an id of our own tells our job from the one that holds the key.
  const opts = job.opts.deduplication ? { ...job.opts, jobId: randomUUID() } : job.opts;
  const added = await (job.runAtMs === undefined
    ? queue.add(job.name, job.data, opts)
    : queue.addAt(job.runAtMs, job.name, job.data, opts));
  return { status: queue.isDuplicate(added) ? "duplicate" : "created", jobId: String(added.id) };
}
