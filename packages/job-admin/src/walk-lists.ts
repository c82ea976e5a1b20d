import { askQueue, contracts, type QueueName, queueNames, runScript } from "@millrace/worker-config";
import { z } from "zod";
import type { JobFilter } from "./job-filter.ts";
import type { JobListName, JobPlace } from "./job-place.ts";
import { readFailedSets, type SortedJobList } from "./read-failed-sets.ts";

type ListName = Exclude<JobListName, "found">;

const waiting = ["wait", "prioritized", "delayed", "waiting-children"] as const;
const listsOf = {
  running: ["active"],
  pending: waiting,
  retrying: waiting,
  cancelled: [...waiting, "failed"],
  failed: ["failed"],
  success: ["completed"],
  skipped: ["completed"],
} as const satisfies Record<NonNullable<JobFilter["status"]>, readonly ListName[]>;

const allLists = ["active", ...waiting, "failed", "completed"] as const;
const pageSize = 100;
const idsSchema = z.array(z.string());

/**
 * The places of jobs, list by list: what runs, then what waits, queue by queue and in the order in which it will run; then what has failed
 * and what has completed, over all queues, the newest first. Only as much is read as is taken. Jobs that leave or join meanwhile shift nothing:
 * what stays in its list is read, and read once; but where a job of `active` or `wait` has left behind which the walk was to go on, it begins
 * that list anew, and what ran or waited longer than that job comes twice. A job that goes on to another list meanwhile may be missed, or come
 * twice.
 *
 * @param after a place of the same search
 */
export async function* walkLists(filter: JobFilter, after: JobPlace | undefined): AsyncGenerator<JobPlace, void> {
  const queues = filter.queue === undefined ? queueNames.options : [filter.queue];
  const lists: readonly ListName[] = filter.status === undefined ? allLists : listsOf[filter.status];
  // A list of another name, in a cursor that somebody made up, is none of them.
  for (const list of lists.slice(after ? lists.indexOf(after.list as ListName) : 0)) {
    const from = after?.list === list ? after : undefined;
    if (list === "failed" || list === "completed") {
      // No job ends before it is created, but for a difference of clocks.
      const fromMs = filter.from === undefined ? undefined : Date.parse(filter.from) - 60_000;
      yield* walkSet(list, queues, "newest_first", from, fromMs);
      continue;
    }
    for (const queue of queues.slice(from ? queues.indexOf(from.queue) : 0)) {
      const behind = from?.queue === queue ? from : undefined;
      if (list === "wait" || list === "active") yield* walkList(list, queue, behind?.jobId);
      else yield* walkSet(list, [queue], "oldest_first", behind);
    }
  }
}

async function* walkSet(
  set: SortedJobList,
  queues: readonly QueueName[],
  order: "newest_first" | "oldest_first",
  after: JobPlace | undefined,
  fromScore: number = Number.NEGATIVE_INFINITY,
): AsyncGenerator<JobPlace, void> {
  const range = {
    ...{ queues, set, order, fromMs: fromScore, toMs: Number.POSITIVE_INFINITY },
    after: after && { failedAtMs: after.position, queue: after.queue, jobId: after.jobId },
  };
  for await (const { failedAtMs, queue, jobId } of readFailedSets(range)) {
    yield { list: set, queue, position: failedAtMs, jobId };
  }
}

// By the job and not by a rank: those that run leave the list's end, which is its front, and every rank moves.
const script = {
  name: "millraceReadListBehind",
  numberOfKeys: 1,
  lua: `
local rank = 0
local place = ARGV[1] ~= "" and redis.call("LPOS", KEYS[1], ARGV[1], "RANK", -1)
if place then rank = redis.call("LLEN", KEYS[1]) - place end
return redis.call("LRANGE", KEYS[1], -rank - ${pageSize}, -rank - 1)`,
};

async function* walkList(
  list: "active" | "wait",
  queue: QueueName,
  after: string | undefined,
): AsyncGenerator<JobPlace, void> {
  for (let last = after; ; ) {
    const found = await askQueue(contracts[queue], (opened) =>
      runScript(opened, script, [opened.toKey(list)], [last ?? ""]),
    );
    // The next one to run lies at the end.
    const ids = idsSchema.parse(found).reverse();
    for (const jobId of ids) yield { list, queue, position: 0, jobId };
    last = ids.at(-1);
    if (ids.length < pageSize) return;
  }
}
