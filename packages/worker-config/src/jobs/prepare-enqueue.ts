import type { JobsOptions } from "bullmq";
import type { QueueContract } from "../contracts/define-queue.ts";
import { checkPayload, defaultMaxPayloadBytes } from "./check-payload.ts";
import { defaultJobOptions } from "./default-options.ts";
import { type PreparedJob, prepareJob } from "./prepare-job.ts";

/** A job that may be added, with all its options. */
export interface AcceptedJob extends PreparedJob {
  readonly opts: JobsOptions & { readonly attempts: number };
}

/**
 * Everything that happens to a job on its way in before an engine has it: `enqueue` without a queue. What it refuses and how it completes
 * the options is what the queue objects do.
 *
 * @param now the clock that `runAt` is measured against
 * @throws InvalidJobError
 */
export function prepareEnqueue(
  contract: QueueContract,
  action: string,
  data: unknown,
  options: unknown,
  now: number,
): AcceptedJob {
  const job = prepareJob(action, data, options, now);
  const { stored } = checkPayload(contract, action, job.data, defaultMaxPayloadBytes);
  return { ...job, data: stored, opts: { ...defaultJobOptions, ...actionJobOptions(contract, action), ...job.opts } };
}

/** What the contract says of an action's jobs: above the defaults, below what their caller says. */
export function actionJobOptions(contract: QueueContract, action: string): Pick<JobsOptions, "attempts"> {
  const attempts = contract.actions[action]?.options?.attempts;
  return attempts === undefined ? {} : { attempts };
}
