import {
  askQueue,
  contracts,
  DamagedRecordError,
  type QueueName,
  queueNames,
  readQueueEnv,
} from "@millrace/worker-config";
import { z } from "zod";
import { cancelJob } from "./cancel-job.ts";
import { parseJobKey } from "./job-key.ts";
import { readRedisTime } from "./read-redis-time.ts";
import { scanChildren } from "./scan-children.ts";

const idsSchema = z.array(z.string());
const pageSize = 1_000;
// Whatever is in none of these states can still come to its end, and let its parent go on.
const ended: ReadonlySet<string> = new Set(["completed", "failed", "unknown"]);

/**
 * Calls off parents that wait for children which never end: a child that failed without a word to its parent, or whose record is gone, leaves
 * it waiting for ever. Each is `cancelled` then, and goes with the purge of dead letters. A parent waits on, however old, while one of
 * its children waits (in a paused queue as well), is delayed, runs or waits for children itself, and while one lies in a queue that is not
 * ours.
 *
 * @param olderThanMs how long a parent has waited at least: a child that has just failed may yet be replayed
 * @param signal ends it between two parents
 * @returns how many were called off
 * @throws QueueUnavailableError when Redis does not answer; those that have been called off stay so
 */
export async function cancelStuckParents(olderThanMs: number, signal?: AbortSignal): Promise<number> {
  const until = (await readRedisTime()) - olderThanMs;
  let total = 0;
  for (const queue of queueNames.options) {
    for (let waitOn = 0; ; ) {
      const ids = await parentsWaitingSince(queue, until, waitOn);
      for (const id of ids) {
        if (signal?.aborted) return total;
        if (await cancelIfStuck(queue, id)) total += 1;
        else waitOn += 1;
      }
      if (ids.length < pageSize) break;
    }
  }
  return total;
}

/** One whose keys are damaged is left to people, and keeps nobody from looking at the others. */
async function cancelIfStuck(queue: QueueName, id: string): Promise<boolean> {
  try {
    return !(await hasUnendedChild(queue, id)) && (await cancelJob(queue, id)).outcome === "cancelled";
  } catch (error) {
    if (error instanceof DamagedRecordError) return false;
    throw error;
  }
}

/** The oldest first, a page of them. */
async function parentsWaitingSince(queue: QueueName, until: number, offset: number): Promise<string[]> {
  return askQueue(contracts[queue], async (opened) => {
    const client = await opened.getBackend().client;
    const range = [opened.toKey("waiting-children"), "-inf", until, "LIMIT", offset, pageSize];
    return idsSchema.parse(await client.runCommand("zrangebyscore", range));
  });
}

async function hasUnendedChild(queue: QueueName, jobId: string): Promise<boolean> {
  const prefix = readQueueEnv().QUEUE_PREFIX;
  for await (const { keys } of scanChildren(queue, jobId)) {
    for (const key of keys) {
      const child = parseJobKey(prefix, key);
      if (!child) return true;
      const state = await askQueue(contracts[child.queue], (opened) => opened.getJobState(child.jobId));
      if (!ended.has(state)) return true;
    }
  }
  return false;
}
