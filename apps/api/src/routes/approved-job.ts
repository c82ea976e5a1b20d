import { isDeepStrictEqual } from "node:util";
import type { AgentApproval } from "@millrace/database";
import { askQueue, contracts, enqueueUnchecked, prepareEnqueue, queueNames } from "@millrace/worker-config";
import { jobEnvelopeSchema } from "@millrace/worker-config/contracts";

/**
 * Refuses a job that its contract has come to refuse since it was stored. Asked before anything is decided, so that the approval can still be
 * rejected.
 *
 * @throws InvalidJobError
 */
export function checkApprovedJob({ id, queue, action, data }: AgentApproval): void {
  prepareEnqueue(contracts[queueNames.parse(queue)], action, JSON.parse(data), { jobId: id }, Date.now());
}

/**
 * Adds the job, under the approval's own id: whoever approves at the same time adds the same job.
 *
 * @returns the job's id; undefined where a job with other data, which somebody enqueued under this id, stands there
 */
export async function addApprovedJob({ id, queue, action, data: json }: AgentApproval): Promise<string | undefined> {
  const contract = contracts[queueNames.parse(queue)];
  const data: unknown = JSON.parse(json);
  const { status, jobId } = await enqueueUnchecked(contract, action, data, { jobId: id });
  if (status === "created") return jobId;
  const stored = await askQueue(contract, (opened) => opened.getJob(id));
  const envelope = jobEnvelopeSchema.safeParse(stored?.data).data;
  return envelope?.type === action && isDeepStrictEqual(envelope.data, data) ? jobId : undefined;
}
