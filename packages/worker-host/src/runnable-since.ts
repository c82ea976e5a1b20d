import { replayFields } from "@millrace/worker-config/contracts";
import type { Job, Worker } from "bullmq";
import { deferralLimits } from "./decide-outcome.ts";

/**
 * When a job could first run, in milliseconds since 1970; for a dead letter that was replayed, since its replay. BullMQ leaves the field that
 * says so out of its Job, so Redis is asked, but only for a job so old that it makes a difference. Without an answer it counts as never replayed.
 */
export async function runnableSince(
  worker: Worker<unknown, unknown, string>,
  job: Job<unknown, unknown, string>,
): Promise<number> {
  const since = job.timestamp + (job.opts?.delay ?? 0);
  if (Date.now() - since < deferralLimits.ageMs) return since;
  const client = await worker.getBackend().client;
  const replayedAt: unknown = await client
    .runCommand("hget", [worker.toKey(job.id ?? ""), replayFields.at])
    .catch(() => null);
  return Math.max(since, Number(replayedAt) || 0);
}
