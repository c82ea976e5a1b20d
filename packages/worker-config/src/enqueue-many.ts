import type { ActionInput, JobAction, QueueContract } from "./contracts/define-queue.ts";
import type { EnqueueOptions } from "./contracts/job-options.ts";
import { enqueueUnchecked } from "./enqueue.ts";
import type { Enqueued } from "./enqueued.ts";
import { InvalidJobError } from "./jobs/invalid-job-error.ts";
import { QueueUnavailableError } from "./queues/queue-unavailable-error.ts";

/**
 * What became of one of many:
 * - `created`, `duplicate`: as of a single one.
 * - `refused`: it is not valid, and asking again cannot help.
 * - `unavailable`: Redis was away. Unless `mayHaveHappened`, it was not added.
 */
export type EnqueuedOfMany =
  | Enqueued
  | { readonly status: "refused"; readonly error: InvalidJobError }
  | { readonly status: "unavailable"; readonly mayHaveHappened: boolean; readonly error: QueueUnavailableError };

export interface ManyItem<Data> {
  readonly data: Data;
  readonly options?: EnqueueOptions;
}

// So many fit well into one deadline, also where each has an id of its own and is a transaction, and others are served in between.
const batchSize = 25;

/**
 * Adds many jobs of one action, in their order, some at a time in one go over the connection. Each is checked and answered for itself: one
 * that is refused stops no other. When Redis goes away, those that were not sent yet are not tried.
 *
 * @returns one result per item, at its place
 */
export async function enqueueMany<Contract extends QueueContract, Action extends JobAction<Contract>>(
  contract: Contract,
  action: Action,
  items: readonly ManyItem<ActionInput<Contract, Action>>[],
): Promise<EnqueuedOfMany[]> {
  return enqueueManyUnchecked(contract, action, items);
}

/** `enqueueMany` for callers that hold names and data from outside: what the compiler cannot check, this does. */
export async function enqueueManyUnchecked(
  contract: QueueContract,
  action: string,
  items: readonly { readonly data: unknown; readonly options?: unknown }[],
): Promise<EnqueuedOfMany[]> {
  const results: EnqueuedOfMany[] = [];
  let outage: QueueUnavailableError | undefined;
  for (let next = 0; next < items.length; next += batchSize) {
    const batch = items.slice(next, next + batchSize);
    const error = outage;
    const added = error
      ? batch.map(() => ({ status: "unavailable" as const, mayHaveHappened: false, error }))
      : await Promise.all(batch.map(({ data, options }) => addOne(contract, action, data, options)));
    results.push(...added);
    outage ??= added.find((result) => result.status === "unavailable")?.error;
  }
  return results;
}

async function addOne(
  contract: QueueContract,
  action: string,
  data: unknown,
  options: unknown,
): Promise<EnqueuedOfMany> {
  try {
    return await enqueueUnchecked(contract, action, data, options);
  } catch (error) {
    if (error instanceof InvalidJobError) return { status: "refused", error };
    if (error instanceof QueueUnavailableError) {
      return { status: "unavailable", mayHaveHappened: error.mayHaveHappened, error };
    }
    throw error;
  }
}
