import { readQueueCounts } from "@millrace/job-admin";
import type { QueueFigures } from "@millrace/metrics";
import { queueNames } from "@millrace/worker-config";

/**
 * How each queue stands, by one command per queue.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export function readQueueFigures(): Promise<QueueFigures[]> {
  return Promise.all(
    queueNames.options.map(async (queue) => {
      const counts = await readQueueCounts(queue);
      const { waiting, active, delayed, waitingChildren, failed, cancelled, isPaused, nowMs, oldestSinceMs } = counts;
      return {
        queue,
        depth: { waiting, active, delayed, waiting_children: waitingChildren },
        deadLetters: failed - cancelled,
        isPaused,
        oldestWaitingSeconds: oldestSinceMs === null ? 0 : Math.max(0, nowMs - oldestSinceMs) / 1_000,
      };
    }),
  );
}
