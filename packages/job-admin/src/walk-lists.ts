import { askQueue, contracts, type QueueName, queueNames } from "@millrace/worker-config";
import { z } from "zod";
import type { JobFilter } from "./job-filter.ts";
import type { JobListName, JobPlace } from "./job-place.ts";
import { readFailedSets } from "./read-failed-sets.ts";

const waiting = ["wait", "prioritized", "delayed", "waiting-children"] as const;
const listsOf = {
  running: ["active"],
  pending: waiting,
  retrying: waiting,
  cancelled: [...waiting, "failed"],
  failed: ["failed"],
  success: ["completed"],
  skipped: ["completed"],
} as const satisfies Record<NonNullable<JobFilter["status"]>, readonly JobListName[]>;

const allLists = ["active", ...waiting, "failed", "completed"] as const;
const pageSize = 100;
const idsSchema = z.array(z.string());

/**
 * The places of jobs, list by list: what runs, then what waits, queue by queue and in the order in which it will run; then what has failed
 * and what has completed, over all queues, the newest first. Only as much is read as is taken. A job that goes on to another list meanwhile may
 * be missed, or come twice.
 *
 * @param after a place of the same search
 */
export async function* walkLists(filter: JobFilter, after: JobPlace | undefined): AsyncGenerator<JobPlace, void> {
  const queues = filter.queue === undefined ? queueNames.options : [filter.queue];
  const lists: readonly JobListName[] = filter.status === undefined ? allLists : listsOf[filter.status];
  for (const list of lists.slice(after ? lists.indexOf(after.list) : 0)) {
    const from = after?.list === list ? after : undefined;
    if (list === "failed" || list === "completed") yield* walkEnded(list, queues, filter, from);
    else {
      for (const queue of queues.slice(from ? queues.indexOf(from.queue) : 0)) {
        yield* walkList(list, queue, from?.queue === queue ? from.position + 1 : 0);
      }
    }
  }
}

async function* walkEnded(
  set: "failed" | "completed",
  queues: readonly QueueName[],
  { from }: JobFilter,
  after: JobPlace | undefined,
): AsyncGenerator<JobPlace, void> {
  const range = {
    ...{ queues, set, order: "newest_first" as const, toMs: Number.POSITIVE_INFINITY },
    // No job ends before it is created, but for a difference of clocks.
    fromMs: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from) - 60_000,
    after: after && { failedAtMs: after.position, queue: after.queue, jobId: after.jobId },
  };
  for await (const { failedAtMs, queue, jobId } of readFailedSets(range)) {
    yield { list: set, queue, position: failedAtMs, jobId };
  }
}

async function* walkList(list: JobListName, queue: QueueName, first: number): AsyncGenerator<JobPlace, void> {
  for (let rank = first; ; rank += pageSize) {
    const ids = await askQueue(contracts[queue], async (opened) => {
      const client = await opened.getBackend().client;
      const isList = list === "wait" || list === "active";
      // The next one to run lies at the end of its list.
      const args = isList ? [-rank - pageSize, -rank - 1] : [rank, rank + pageSize - 1];
      const found = idsSchema.parse(
        await client.runCommand(isList ? "lrange" : "zrange", [opened.toKey(list), ...args]),
      );
      return isList ? found.reverse() : found;
    });
    for (const [index, jobId] of ids.entries()) yield { list, queue, position: rank + index, jobId };
    if (ids.length < pageSize) return;
  }
}
