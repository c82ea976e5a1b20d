import {
  askQueue,
  contracts,
  formatSearchEntry,
  parseSearchEntry,
  type QueueName,
  queueNames,
  readQueueEnv,
  searchDigest,
  searchKey,
} from "@millrace/worker-config";
import { workspaceField } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { criteriaOf, type JobFilter, searchableFields } from "./job-filter.ts";
import type { JobPlace } from "./job-place.ts";

const pageSize = 100;
const entriesSchema = z.array(z.string());

/**
 * The places of jobs that were indexed by what the filter asks for: queue by queue, the newest first.
 *
 * @param after a place of the same search
 */
export async function* walkIndex(filter: JobFilter, after: JobPlace | undefined): AsyncGenerator<JobPlace, void> {
  const queues = (filter.queue === undefined ? queueNames.options : [filter.queue]).filter((queue) =>
    criteriaOf(filter).every(({ field }) => field === workspaceField || searchableFields()[queue].includes(field)),
  );
  for (const queue of queues.slice(after ? queues.indexOf(after.queue) : 0)) {
    yield* walkQueue(queue, filter, after?.queue === queue ? after : undefined);
  }
}

async function* walkQueue(
  queue: QueueName,
  filter: JobFilter,
  after: JobPlace | undefined,
): AsyncGenerator<JobPlace, void> {
  const [first, ...others] = criteriaOf(filter).map(({ field, value }) => toIndex(queue, field, value));
  if (!first) return;
  const newest = filter.to === undefined ? Number.POSITIVE_INFINITY : Date.parse(filter.to);
  const oldest = filter.from === undefined ? 0 : Math.max(0, Date.parse(filter.from));
  // "~" sorts behind whatever a job's id may begin with.
  let end = after ? `(${first.entry(after.position, after.jobId)}` : `[${first.entry(newest, "~~")}`;
  for (;;) {
    const [entries, isIn] = await askQueue(contracts[queue], async (opened) => {
      const client = await opened.getBackend().client;
      const range = [first.key, end, `[${first.entry(oldest, "")}`, "LIMIT", 0, pageSize];
      const found = entriesSchema.parse(await client.runCommand("zrevrangebylex", range));
      const places = found.map((entry) => first.parse(entry));
      const checks = places.map(async ({ position, jobId }) => {
        const scores = others.map(({ key, entry }) => client.runCommand("zscore", [key, entry(position, jobId)]));
        return (await Promise.all(scores)).every((score) => score !== null);
      });
      return [places, await Promise.all(checks)] as const;
    });
    for (const [index, place] of entries.entries()) if (isIn[index]) yield { list: "found", queue, ...place };
    const last = entries.at(-1);
    if (!last || entries.length < pageSize) return;
    end = `(${first.entry(last.position, last.jobId)}`;
  }
}

/** Takes the entries of jobs out of the index that are gone. */
export async function forgetFound(filter: JobFilter, gone: readonly JobPlace[]): Promise<void> {
  for (const { field, value } of criteriaOf(filter)) {
    await Promise.all(
      gone.map(({ queue, position, jobId }) =>
        askQueue(contracts[queue], async (opened) => {
          const client = await opened.getBackend().client;
          const { key, entry } = toIndex(queue, field, value);
          const member = entry(position, jobId);
          await Promise.all([
            client.runCommand("zrem", [key, member]),
            client.runCommand("zrem", [`${key}:age`, member]),
          ]);
        }),
      ),
    );
  }
}

function toIndex(queue: QueueName, field: string, value: string) {
  const key = searchKey(readQueueEnv().QUEUE_PREFIX, queue, field);
  const digest = searchDigest(key, value);
  return {
    key,
    entry: (createdAtMs: number, jobId: string) => formatSearchEntry(digest, createdAtMs, jobId),
    parse: (entry: string) => {
      const { createdAtMs: position, jobId } = parseSearchEntry(entry);
      return { position, jobId };
    },
  };
}
