import { askQueue, contracts, type QueueName, readQueueEnv } from "@millrace/worker-config";
import { type CancelledChildren, cancelFlow } from "./cancel-flow.ts";
import { isJobKey, parseJobKey } from "./job-key.ts";
import type { MarkOutcome, ParentEffect } from "./mark-cancelled.ts";
import { findMissing } from "./quarantine-entry.ts";

/** As a mark has it, and `quarantined`: the job lies in quarantine, and does not run. `discardQuarantined` removes it. */
export type CancelOutcome = MarkOutcome | "quarantined";

/** What became of a job that somebody called off, and of the flow that it belongs to. */
export interface Cancellation {
  readonly outcome: CancelOutcome;
  /** Its children's, and theirs. */
  readonly children: CancelledChildren;
  /** The parent that waits for it. Null where there is none. */
  readonly parent: { readonly queue: QueueName; readonly jobId: string; readonly effect: ParentEffect } | null;
}

const noChildren: CancelledChildren = { cancelled: 0, cancelling: 0, finished: 0, left: 0 };

/**
 * Calls a job off, from any process: waiting and delayed jobs at once, a running one within the time a message takes.
 *
 * In a flow its unfinished descendants are called off with it, and it does not wait for them. Its siblings go on; its parent sees a failed
 * child, and where the flow does not say what that means, the parent fails, since it would wait for ever.
 *
 * @throws QueueUnavailableError when Redis does not answer; asking again takes up what is left
 */
export async function cancelJob(queue: QueueName, jobId: string): Promise<Cancellation> {
  const isJob = await askQueue(contracts[queue], async (opened) => isJobKey(opened, jobId));
  if (!isJob) return { outcome: "unknown", children: noChildren, parent: null };
  const { root, children } = await cancelFlow(queue, jobId);
  const isMissing = root.outcome === "unknown";
  const parent = root.parent && parseJobKey(readQueueEnv().QUEUE_PREFIX, root.parent.key);
  return {
    outcome: isMissing ? await askQueue(contracts[queue], (opened) => findMissing(opened, queue, jobId)) : root.outcome,
    children,
    parent: root.parent && parent ? { ...parent, effect: root.parent.effect } : null,
  };
}
