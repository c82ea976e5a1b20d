import { readQueueCounts } from "@millrace/job-admin";
import type { QueueFigures } from "@millrace/metrics";
import { type QueueName, queueNames } from "@millrace/worker-config";

/** How each queue stands that can be asked, by one command per queue. Without Redis there is none. */
export async function readQueueFigures(): Promise<QueueFigures[]> {
  const asked = await Promise.allSettled(queueNames.options.map(readFigures));
  return asked.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
}

async function readFigures(queue: QueueName): Promise<QueueFigures> {
  const counts = await readQueueCounts(queue);
  const { waiting, active, delayed, waitingChildren, failed, cancelled, quarantined, isPaused, nowMs, oldestSinceMs } =
    counts;
  return {
    queue,
    depth: { waiting, active, delayed, waiting_children: waitingChildren },
    deadLetters: failed - cancelled,
    quarantined,
    isPaused,
    oldestWaitingSeconds: oldestSinceMs === null ? 0 : Math.max(0, nowMs - oldestSinceMs) / 1_000,
  };
}
