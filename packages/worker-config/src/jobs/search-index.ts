import { createHash } from "node:crypto";
import { ownKey } from "@millrace/redis";
import type { SearchEntry } from "../contracts/searchable.ts";

/** How many jobs of a queue can be found by one field: beyond it, the newest. About 500 bytes each. */
const mostEntries = 200_000;

/** Longer than a dead letter is kept. A field that no job was added with for so long is forgotten, unless a job's delay is longer. */
const keptMs = 40 * 24 * 60 * 60_000;

// A job that exists already keeps the entries that it has. What is beyond the bound goes, a hundred at a time.
const script = `
if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
local most, keptMs, score = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
for index = 2, #KEYS do
  local key = KEYS[index]
  local entry = ARGV[index + 2]
  redis.call("ZADD", key, 0, entry)
  redis.call("ZADD", key .. ":age", score, entry)
  local over = redis.call("ZCARD", key) - most
  if over > 0 then
    for _, old in ipairs(redis.call("ZRANGE", key .. ":age", 0, math.min(over, 100) - 1)) do
      redis.call("ZREM", key, old)
      redis.call("ZREM", key .. ":age", old)
    end
  end
  if redis.call("PTTL", key) < keptMs then
    redis.call("PEXPIRE", key, keptMs)
    redis.call("PEXPIRE", key .. ":age", keptMs)
  end
end
return 1`;

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

/** A job's entry: digest, time of creation in a fixed width, so that entries sort by it, and id. */
export function formatSearchEntry(digest: string, createdAtMs: number, jobId: string): string {
  return `${digest}:${String(createdAtMs).padStart(13, "0")}:${jobId}`;
}

/** The way back from `formatSearchEntry`. */
export function parseSearchEntry(entry: string): { createdAtMs: number; jobId: string } {
  const [, createdAt = "", ...id] = entry.split(":");
  return { createdAtMs: Number(createdAt), jobId: id.join(":") };
}

/** The `eval` that lets a job be found. To be sent before the job itself, which must not exist yet. */
export function indexCommand(
  { prefix, queue, jobKey }: { readonly prefix: string; readonly queue: string; readonly jobKey: string },
  { jobId, createdAtMs, delayMs }: { readonly jobId: string; readonly createdAtMs: number; readonly delayMs: number },
  entries: readonly SearchEntry[],
): (string | number)[] {
  const keys = entries.map(({ field }) => searchKey(prefix, queue, field));
  const members = entries.map(({ value }, index) =>
    formatSearchEntry(searchDigest(keys[index] ?? "", value), createdAtMs, jobId),
  );
  return [script, keys.length + 1, jobKey, ...keys, mostEntries, keptMs + delayMs, createdAtMs, ...members];
}
