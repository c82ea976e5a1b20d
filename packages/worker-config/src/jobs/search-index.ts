import { createHash } from "node:crypto";
import { ownKey } from "@millrace/redis";
import type { SearchEntry } from "../contracts/searchable.ts";

/** How many jobs of a queue can be found by one field: beyond it, the newest. About 480 bytes each, with what the job's long id takes besides. */
const mostEntries = 200_000;

/** Longer than a dead letter is kept. A field that no job was added with for so long is forgotten, unless a job's delay is longer. */
const keptMs = 40 * 24 * 60 * 60_000;

/** How often a process puts a field's end off. */
const keepEveryMs = 60 * 60_000;

/** What is beyond the bound goes so many at a time, so that it costs once in a hundred jobs. */
const trimmedAtOnce = 100;

/**
 * Lets a job be found. Its keys are the job's and where all indexes of the queue lie. A job that exists already keeps the entries that it has.
 *
 * Each job pays for it, so it does no more than it must: a field's end is put off where the writer says so, and where the field is new.
 */
export const indexScript = {
  name: "millraceIndexJob",
  numberOfKeys: 2,
  lua: `
local mayExist, most, keptMs, score = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
if mayExist == "1" and redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
for index = 5, #ARGV, 3 do
  local key, entry, isKept = KEYS[2] .. ":" .. ARGV[index], ARGV[index + 1], ARGV[index + 2]
  redis.call("ZADD", key, 0, entry)
  redis.call("ZADD", key .. ":age", score, entry)
  local size = redis.call("ZCARD", key)
  if size >= most + ${trimmedAtOnce} then
    for _, old in ipairs(redis.call("ZRANGE", key .. ":age", 0, ${trimmedAtOnce} - 1)) do
      redis.call("ZREM", key, old)
      redis.call("ZREM", key .. ":age", old)
    end
  end
  if (isKept == "1" or size == 1) and redis.call("PTTL", key) < keptMs then
    redis.call("PEXPIRE", key, keptMs)
    redis.call("PEXPIRE", key .. ":age", keptMs)
  end
end
return 1`,
};

/** Where a queue's index of one field lies: a sorted set of entries; with `:age`, the same ones by when their jobs were added. */
export function searchKey(prefix: string, queue: string, field: string): string {
  return ownKey(prefix, "search", queue, field);
}

/**
 * How the entries of one value begin. Values are personal data, and only equality is asked of them, so a digest stands for each: of the
 * prefix, too, so that two installations share none.
 */
export function searchDigest(key: string, value: string): string {
  return createHash("sha256")
    .update(JSON.stringify([key, value]))
    .digest("base64url")
    .slice(0, 22);
}

// As wide as a time in an entry: the year 2286.
const endOfTime = 9_999_999_999_999;

/** A job's entry: digest, time of creation in a fixed width, so that entries sort by it, and id. A time that is wider counts as the last one. */
export function formatSearchEntry(digest: string, createdAtMs: number, jobId: string): string {
  return `${digest}:${String(Math.min(createdAtMs, endOfTime)).padStart(13, "0")}:${jobId}`;
}

/** The way back from `formatSearchEntry`. */
export function parseSearchEntry(entry: string): { createdAtMs: number; jobId: string } {
  const [, createdAt = "", ...id] = entry.split(":");
  return { createdAtMs: Number(createdAt), jobId: id.join(":") };
}

/** A job that is to be found. */
export interface IndexedJob {
  readonly prefix: string;
  readonly queue: string;
  readonly jobKey: string;
  readonly jobId: string;
  readonly createdAtMs: number;
  readonly delayMs: number;
  /** False for an id that is new: then nothing is asked. */
  readonly mayExist: boolean;
}

/**
 * A writer of a queue's indexes, which remembers when it last put each field's end off.
 *
 * @returns what makes the keys and arguments of `indexScript`. It is to be sent before the job itself
 */
export function createIndexWriter(): (job: IndexedJob, entries: readonly SearchEntry[]) => (string | number)[] {
  const keptAt = new Map<string, number>();

  function isKeepingDue(key: string, delayMs: number): boolean {
    const now = performance.now();
    // A job that runs in two months must be found until then.
    if (delayMs < keepEveryMs && now < (keptAt.get(key) ?? Number.NEGATIVE_INFINITY) + keepEveryMs) return false;
    keptAt.set(key, now);
    return true;
  }

  return ({ prefix, queue, jobKey, jobId, createdAtMs, delayMs, mayExist }, entries) => {
    const fields = entries.flatMap(({ field, value }) => {
      const key = searchKey(prefix, queue, field);
      const entry = formatSearchEntry(searchDigest(key, value), createdAtMs, jobId);
      return [field, entry, isKeepingDue(key, delayMs) ? 1 : 0];
    });
    const base = ownKey(prefix, "search", queue);
    return [jobKey, base, mayExist ? 1 : 0, mostEntries, keptMs + delayMs, createdAtMs, ...fields];
  };
}
