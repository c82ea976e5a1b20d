import { defaultJobOptions } from "@millrace/worker-config";
import { type BackoffOptions, Backoffs, type Job } from "bullmq";

const defaultBackoff: BackoffOptions = defaultJobOptions.backoff;

/**
 * What BullMQ is to go by for a job's next attempt. The backoffs of its own that a plain `add` may name know of no least wait; and a job without one,
 * or with one that names no delay, would come back at once, with all that failed beside it.
 *
 * @param leastDelayMs what the failure has asked for
 */
export async function retryBackoff(
  job: Job<unknown, unknown, string>,
  leastDelayMs: number | undefined,
): Promise<BackoffOptions> {
  const backoff: BackoffOptions = Backoffs.normalize(job.opts.backoff ?? defaultBackoff) ?? defaultBackoff;
  if (!(backoff.type in Backoffs.builtinStrategies)) return backoff;
  if (backoff.delay === undefined) return defaultBackoff;
  if (leastDelayMs === undefined) return backoff;
  const ownMs = await Backoffs.calculate(backoff, job.attemptsMade + 1, new Error(), job);
  return { type: "fixed", delay: Math.max(ownMs ?? 0, leastDelayMs) };
}
