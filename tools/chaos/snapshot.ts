import { ownKey } from "@millrace/redis";
import { parseJobFailure, parseJobSkip } from "@millrace/worker-config/contracts";
import type { Redis } from "ioredis";

/** What is stored of a job. */
export interface JobRecord {
  readonly failureCode: string | undefined;
  readonly isSkipped: boolean;
  readonly result: unknown;
  /** Starts that ended with the death of their process, or with the loss of the job's lock. */
  readonly stalls: number;
}

/** Everything that a queue has in Redis, taken when nobody works on it any more. */
export interface Snapshot {
  /** The lists and sets that each job lies in: one, if all is well. */
  readonly places: ReadonlyMap<string, readonly string[]>;
  readonly records: ReadonlyMap<string, JobRecord>;
  /** Jobs that somebody holds a lock of. */
  readonly locked: readonly string[];
  /** Jobs whose claim of an effect was neither finished nor given up. */
  readonly claiming: readonly string[];
}

const openLists = ["wait", "active", "paused"];
const openSets = ["delayed", "prioritized", "waiting-children"];
const endedSets = ["completed", "failed"];
const batchSize = 1_000;

/** How many jobs have not ended yet, and how many have. */
export async function countJobs(
  redis: Redis,
  prefix: string,
  queue: string,
): Promise<{ readonly open: number; readonly ended: number }> {
  const key = (name: string) => `${prefix}:${queue}:${name}`;
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const lists = await Promise.all(openLists.map((name) => redis.llen(key(name))));
  const sets = await Promise.all(openSets.map((name) => redis.zcard(key(name))));
  return {
    open: sum([...lists, ...sets]),
    ended: sum(await Promise.all(endedSets.map((name) => redis.zcard(key(name))))),
  };
}

export async function takeSnapshot(redis: Redis, prefix: string, queue: string): Promise<Snapshot> {
  const base = `${prefix}:${queue}:`;
  const places = new Map<string, string[]>();
  const found = (place: string, jobIds: readonly string[]) => {
    for (const jobId of jobIds) places.set(jobId, [...(places.get(jobId) ?? []), place]);
  };
  for (const name of openLists) found(name, await redis.lrange(base + name, "0", "-1"));
  for (const name of [...openSets, ...endedSets]) found(name, await redis.zrange(base + name, "0", "-1"));
  found("stalled", await redis.smembers(`${base}stalled`));
  found("quarantine", await redis.hkeys(ownKey(prefix, "quarantine", queue)));

  const all = await scanKeys(redis, `${prefix}:*`);
  const side = all.filter((key) => key.startsWith(base)).map((key) => key.slice(base.length));
  const claimKeys = all.filter((key) => key.startsWith(ownKey(prefix, "idempotency", "")));
  const claims = claimKeys.length > 0 ? await redis.mget(claimKeys) : [];
  return {
    places,
    records: await readRecords(redis, base, [...new Set([...places.keys(), ...side])]),
    locked: side.filter((name) => name.endsWith(":lock")).map((name) => name.slice(0, -":lock".length)),
    // The effect store's record of a claim that runs: `r <queue>/<job> <token>`.
    claiming: claims.flatMap((claim) => /^r [^/]*\/(\S+) /.exec(claim ?? "")?.[1] ?? []),
  };
}

async function scanKeys(redis: Redis, match: string): Promise<string[]> {
  const found = new Set<string>();
  let cursor = "0";
  do {
    const [next, page] = await redis.scan(cursor, "MATCH", match, "COUNT", batchSize);
    for (const key of page) found.add(key);
    cursor = next;
  } while (cursor !== "0");
  return [...found];
}

async function readRecords(redis: Redis, base: string, names: readonly string[]): Promise<Map<string, JobRecord>> {
  const records = new Map<string, JobRecord>();
  for (let from = 0; from < names.length; from += batchSize) {
    const batch = names.slice(from, from + batchSize);
    const pipeline = redis.pipeline();
    for (const name of batch) pipeline.hmget(base + name, "name", "failedReason", "returnvalue", "stc");
    const replies = (await pipeline.exec()) ?? [];
    for (const [index, [error, fields]] of replies.entries()) {
      // What is no hash, or has no name, is no job.
      if (error || !Array.isArray(fields) || fields[0] === null) continue;
      const [, failedReason, returned, stalls] = fields as (string | null)[];
      const result: unknown = returned ? JSON.parse(returned) : undefined;
      const skip = parseJobSkip(result);
      records.set(batch[index] ?? "", {
        failureCode: failedReason ? parseJobFailure(failedReason).code : undefined,
        isSkipped: skip !== undefined,
        result: skip ? skip.result : result,
        stalls: Number(stalls ?? 0),
      });
    }
  }
  return records;
}
