import { askQueue, contracts, type QueueName, readQueueEnv } from "@millrace/worker-config";
import { parseJobKey } from "./job-key.ts";
import { type MarkedJob, markCancelled, releaseCancelled } from "./mark-cancelled.ts";
import { scanChildren } from "./scan-children.ts";

/** What became of a cancelled job's descendants. */
export interface CancelledChildren {
  readonly cancelled: number;
  readonly cancelling: number;
  /** Had ended before, and stay as they were. */
  readonly finished: number;
  /** Not called off: they lie in a queue that is not ours, their record is none, or there are more than 5,000. */
  readonly left: number;
}

// Each takes a few commands; a request must come to an end.
const maxDescendants = 5_000;

/**
 * Calls a job off, and before it is let go all its descendants: whoever breaks off in between can begin anew. A job that had ended keeps
 * its children.
 */
export async function cancelFlow(
  queue: QueueName,
  jobId: string,
): Promise<{ root: MarkedJob; children: CancelledChildren }> {
  const prefix = readQueueEnv().QUEUE_PREFIX;
  const children = { cancelled: 0, cancelling: 0, finished: 0, left: 0 };
  const seen = new Set<string>();

  async function cancelOne(name: QueueName, id: string, parent?: string): Promise<MarkedJob> {
    const marked = await askQueue(contracts[name], (opened) => markCancelled(opened, name, id, parent));
    const isRoot = parent === undefined;
    if (marked.children > 0 && !(isRoot && marked.outcome === "finished")) await cancelChildren(name, id);
    if (marked.outcome === "cancelled") await askQueue(contracts[name], (opened) => releaseCancelled(opened, id));
    return marked;
  }

  async function cancelChild(key: string, parent: string): Promise<void> {
    if (seen.has(key)) return;
    seen.add(key);
    const child = parseJobKey(prefix, key);
    if (!child || seen.size > maxDescendants) {
      children.left += 1;
      return;
    }
    const { outcome } = await cancelOne(child.queue, child.jobId, parent);
    // One whose record is gone is no child any more.
    if (outcome !== "unknown") children[outcome === "corrupt" ? "left" : outcome] += 1;
  }

  async function cancelChildren(name: QueueName, id: string): Promise<void> {
    for await (const { parent, keys } of scanChildren(name, id)) {
      await Promise.all(keys.map((key) => cancelChild(key, parent)));
    }
  }

  const root = await cancelOne(queue, jobId);
  return { root, children };
}
