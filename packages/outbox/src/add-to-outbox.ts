import { randomUUID } from "node:crypto";
import {
  type ActionInput,
  type EnqueueOptions,
  InvalidJobError,
  type JobAction,
  prepareEnqueue,
  type QueueContract,
} from "@millrace/worker-config";

/**
 * Runs one statement in the transaction that the job belongs to, with any client: `(text, values) => client.query(text, values)` for pg,
 * `(text, values) => tx.$executeRawUnsafe(text, ...values)` for Prisma.
 */
export type RunStatement = (text: string, values: string[]) => Promise<unknown>;

/** As for `enqueue`, but for `dedupe`: its key holds for what is in the queue, and this job is not there yet. */
export type OutboxOptions = Omit<EnqueueOptions, "dedupe">;

/**
 * Writes a job into the outbox, in the transaction of what it belongs to: it is enqueued after the commit, also when Redis is away at that
 * moment, and never after a rollback. Checked as `enqueue` checks it, before the statement runs.
 *
 * @returns the id that the job will have
 * @throws InvalidJobError whose `code` and `issues` say what is wrong
 */
export async function addToOutbox<Contract extends QueueContract, Action extends JobAction<Contract>>(
  run: RunStatement,
  contract: Contract,
  action: Action,
  data: ActionInput<Contract, Action>,
  options: OutboxOptions = {},
): Promise<{ readonly jobId: string }> {
  refuseDedupe(options);
  // An id from the beginning: the relay may publish a job twice, and the queue knows the second one by it.
  const jobId = options.jobId ?? `outbox-${randomUUID()}`;
  prepareEnqueue(contract, action, data, { ...options, jobId }, Date.now());
  // A delay counts from here on, not from the moment in which the relay comes by: by the clock of the database, which is also the relay's.
  const text =
    "insert into millrace_outbox (queue, action, data, options, created_at) values ($1, $2, $3, $4, clock_timestamp())";
  await run(text, [contract.name, action, JSON.stringify(data), JSON.stringify({ ...options, jobId })]);
  return { jobId };
}

function refuseDedupe(options: EnqueueOptions): void {
  if (options.dedupe === undefined) return;
  const message = "expected none: the key would be asked for when the job is published; use a jobId";
  throw new InvalidJobError("invalid_options", "The options of the job are not valid.", [
    { path: "options.dedupe", message },
  ]);
}
