import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { z } from "zod";

export const pauseOutcomes = z.enum(["paused", "already_paused"]);
export type PauseOutcome = z.infer<typeof pauseOutcomes>;

export const resumeOutcomes = z.enum(["resumed", "not_paused"]);
export type ResumeOutcome = z.infer<typeof resumeOutcomes>;

/**
 * Lets no worker start a job of this queue, in any process, until it is resumed. What runs goes on; what is added waits.
 *
 * @throws QueueUnavailableError when Redis does not answer; asking again is safe
 */
export async function pauseQueue(queue: QueueName): Promise<PauseOutcome> {
  return askQueue(contracts[queue], async (opened) => {
    if (await opened.isPaused()) return "already_paused";
    await opened.pause();
    return "paused";
  });
}

/**
 * Lets the workers go on with a queue that was paused.
 *
 * @throws QueueUnavailableError when Redis does not answer; asking again is safe
 */
export async function resumeQueue(queue: QueueName): Promise<ResumeOutcome> {
  return askQueue(contracts[queue], async (opened) => {
    if (!(await opened.isPaused())) return "not_paused";
    await opened.resume();
    return "resumed";
  });
}
