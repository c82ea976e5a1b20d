import { askQueue, contracts, type QueueName, readQueueEnv } from "@millrace/worker-config";
import { cancelChannel, cancelledReason } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { isJobKey } from "./job-key.ts";

/**
 * - `cancelled`: it will not run (again), and its status says `cancelled` from now on.
 * - `cancelling`: it runs; its worker has been told, aborts its signal and ends it.
 * - `finished`: it had ended before, and stays as it was.
 * - `unknown`: the queue holds no such job.
 */
export type Cancellation = "cancelled" | "cancelling" | "finished" | "unknown";

// `defa` is the field in which BullMQ keeps a failure that is settled before a job runs: whichever worker takes the job fails it with
// that reason and runs nothing, at no cost for other jobs. The message reaches an attempt that runs already, on any process; both at
// once, so that a job between the two states escapes neither.
const script = `
if redis.call("EXISTS", KEYS[1]) == 0 then return "unknown" end
if redis.call("HEXISTS", KEYS[1], "finishedOn") == 1 then return "finished" end
redis.call("HSET", KEYS[1], "defa", ARGV[1])
redis.call("PUBLISH", ARGV[2], ARGV[3])
if redis.call("EXISTS", KEYS[1] .. ":lock") == 1 then return "cancelling" end
return "cancelled"`;

/**
 * Calls a job off, from any process: waiting and delayed jobs at once, a running one within the time a message takes. Its parent in a
 * flow sees a failed child.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function cancelJob(queue: QueueName, jobId: string): Promise<Cancellation> {
  return askQueue(contracts[queue], async (opened) => {
    if (!isJobKey(opened, jobId)) return "unknown";
    const client = await opened.getBackend().client;
    client.defineCommand("millraceCancelJob", { numberOfKeys: 1, lua: script });
    const channel = cancelChannel(readQueueEnv().QUEUE_PREFIX, queue);
    const answer: Cancellation = await client.runCommand("millraceCancelJob", [
      opened.toKey(jobId),
      cancelledReason,
      channel,
      jobId,
    ]);
    if (answer === "cancelled") await promoteDelayed(opened, jobId);
    return answer;
  });
}

/** A delayed job would lie about until its time; now a worker clears it away. One that has left in the meantime needs no help. */
async function promoteDelayed(queue: Queue, jobId: string): Promise<void> {
  if ((await queue.getJobState(jobId)) !== "delayed") return;
  const job = await queue.getJob(jobId);
  await job?.promote().catch((error: unknown) => {
    if (!(error instanceof Error && /not in the delayed state|Missing/.test(error.message))) throw error;
  });
}
