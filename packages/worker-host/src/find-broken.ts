import type { JobJson, RedisQueueBackend } from "bullmq";

// A fetch fails on a record for two reasons only, which are looked for here: the error alone does not say which job it was.
// The look at the rate limit comes before the lock, so a job may lie there without one; and one that has its record is another's.
const script = `
local function lockOf(jobId) return redis.call("GET", ARGV[1] .. jobId .. ":lock") end
local function take(jobId)
  redis.call("SET", ARGV[1] .. jobId .. ":lock", ARGV[2], "PX", ARGV[4])
  return jobId
end
local function isIn(list, jobId)
  for _, listed in ipairs(list) do
    if listed == jobId then return true end
  end
  return false
end
local function isBroken(jobKey)
  local kind = redis.call("TYPE", jobKey)
  kind = type(kind) == "table" and kind.ok or kind
  if kind ~= "hash" then return kind ~= "none" end
  local starts = redis.call("HGET", jobKey, "ats")
  return starts and starts ~= "0" and not (string.match(starts, "^-?[1-9]%d*$") and #starts < 18)
end
local function isKept(jobId)
  for index = 3, #KEYS do
    if redis.call("ZSCORE", KEYS[index], jobId) then return true end
  end
  return isIn(redis.call("LRANGE", KEYS[2], 0, -1), jobId)
end
local active = redis.call("LRANGE", KEYS[1], 0, -1)
local ended = ARGV[3]
if ended ~= "" and redis.call("EXISTS", ARGV[1] .. ended) == 1 and not lockOf(ended) then
  if isIn(active, ended) then return take(ended) end
  if not isKept(ended) then
    redis.call("LPUSH", KEYS[1], ended)
    return take(ended)
  end
end
for _, jobId in ipairs(active) do
  local lock = lockOf(jobId)
  if jobId ~= ended and (not lock or lock == ARGV[2]) and isBroken(ARGV[1] .. jobId) then return take(jobId) end
end
return false`;

/** Longer than a quarantine takes. A worker that dies before it leaves the job to the next one's stalled check. */
const lockMs = 10_000;

/**
 * Lets a job that stops BullMQ's scripts come to its worker as one that cannot be read, so that it is quarantined. BullMQ alone leaves two
 * kinds of them behind:
 *
 * - the fetch makes a job active, fails on its record, and so does every further fetch of it, for ever;
 * - the end of a job fails halfway, by its record or by what the record points to, when the job is in no list, or has no lock any more.
 *
 * Where Redis itself is at fault (full, read-only, a command forbidden) no job is touched.
 *
 * @param error what a command that fetches failed with
 * @param ended the job that it was to end, or empty
 * @returns the job that it failed on
 * @throws the error, where it has another reason
 */
export async function findBroken(
  backend: RedisQueueBackend,
  error: unknown,
  token: string,
  ended: string,
): Promise<FetchedJob> {
  if (!isRefusedForData(error)) throw error;
  const { keys } = backend;
  const client = await backend.client;
  const lists = [keys.active, keys.wait, keys.prioritized, keys.delayed, keys.completed, keys.failed];
  client.defineCommand("millraceFindBroken", { numberOfKeys: 7, lua: script });
  const found: unknown = await client.runCommand("millraceFindBroken", [
    ...lists,
    keys["waiting-children"],
    backend.toKey(""),
    token,
    ended,
    lockMs,
  ]);
  // A key of the queue's own is no job, whatever a list says.
  if (typeof found !== "string" || Object.values(keys).includes(backend.toKey(found))) throw error;
  return [unreadable, found, 0, 0];
}

/** As a fetching command answers. */
export type FetchedJob = [record: JobJson, jobId: string, rateLimitDelay: number, delayUntil: number];

// Without a name, by which the worker knows it.
const unreadable: JobJson = {
  id: "",
  name: "",
  data: "{}",
  opts: {},
  progress: 0,
  attemptsMade: 0,
  attemptsStarted: 0,
  timestamp: 0,
  failedReason: "",
  returnvalue: "null",
  stalledCounter: 0,
};

/**
 * A refusal whose reason is in the data: the wrong type of key, a count that is none, a script that came upon either. Redis' own reasons have
 * codes of their own (OOM, READONLY, NOPERM …), which servers before version 7 hide behind an ERR; and a command that a provider has taken
 * away is unknown.
 */
function isRefusedForData(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== "ReplyError") return false;
  return (
    /^(ERR|WRONGTYPE) /.test(error.message) && !/ -(?!ERR |WRONGTYPE )[A-Z]+ |unknown .*command/i.test(error.message)
  );
}
