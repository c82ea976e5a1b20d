import {
  askQueue,
  contracts,
  type QueueName,
  queueNames,
  readQueueEnv,
  runScript,
  type Script,
  searchKey,
} from "@millrace/worker-config";
import { workspaceField } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { searchableFields } from "./job-filter.ts";
import { statisticsKey } from "./read-queue-counts.ts";
import { setMissingMarks } from "./set-missing-marks.ts";

const page = z.tuple([z.coerce.number(), z.int(), z.int()]);

// An entry names its job and when that was created: another job may have taken the id since.
const searchScript = {
  name: "millraceSweepSearch",
  numberOfKeys: 1,
  lua: `
local key, jobs, from = KEYS[1], ARGV[1], tonumber(ARGV[2])
local entries = redis.call("ZRANGE", key .. ":age", from, from + 199)
local removed = 0
for _, entry in ipairs(entries) do
  local created, id = string.match(entry, "^[^:]*:(%d+):(.+)$")
  local timestamp = id and redis.pcall("HGET", jobs .. id, "timestamp")
  if type(timestamp) ~= "string" or tonumber(timestamp) ~= tonumber(created) then
    redis.call("ZREM", key, entry)
    redis.call("ZREM", key .. ":age", entry)
    removed = removed + 1
  end
end
return { from + #entries - removed, removed, #entries }`,
};

const markScript = {
  name: "millraceSweepMarks",
  numberOfKeys: 2,
  lua: `
local marks, set, jobs, from = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local ids = redis.call("ZRANGE", marks, from, from + 199)
local removed = 0
for _, id in ipairs(ids) do
  local isRight
  if ARGV[3] == "retrying" then
    isRight = redis.pcall("HEXISTS", jobs .. id, "name") == 1 and redis.call("HEXISTS", jobs .. id, "finishedOn") == 0
  else
    isRight = redis.call("ZSCORE", set, id)
  end
  if not isRight then
    redis.call("ZREM", marks, id)
    removed = removed + 1
  end
end
return { from + #ids - removed, removed, #ids }`,
};

const setsOfMarks = { retrying: "delayed", skipped: "completed", cancelled: "failed" } as const;

/**
 * Takes what is left of removed jobs out of the indexes by which jobs are found, and out of the marks by which statistics tell skipped,
 * cancelled and retrying jobs apart; and sets the marks that ended jobs lack. Two hundred at a time, and Redis serves others in between.
 *
 * @param signal ends the sweep between two of them
 * @returns how many entries and marks were removed
 * @throws QueueUnavailableError when Redis does not answer; what has been removed stays so
 */
export async function sweepIndexes(signal?: AbortSignal): Promise<number> {
  const { QUEUE_PREFIX } = readQueueEnv();
  let total = 0;
  for (const queue of queueNames.options) {
    for (const field of [...searchableFields()[queue], workspaceField]) {
      total += await sweep(queue, searchScript, () => [searchKey(QUEUE_PREFIX, queue, field)], [], signal);
    }
    for (const [mark, set] of Object.entries(setsOfMarks)) {
      const keys = (toKey: (name: string) => string) => [`${statisticsKey(queue)}:${mark}`, toKey(set)];
      total += await sweep(queue, markScript, keys, [mark], signal);
    }
    await setMissingMarks(queue, signal);
  }
  return total;
}

async function sweep(
  queue: QueueName,
  script: Script,
  keys: (toKey: (name: string) => string) => readonly string[],
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<number> {
  let total = 0;
  for (let from = 0, size = 1; size > 0 && !signal?.aborted; ) {
    const reply = await askQueue(contracts[queue], (opened) =>
      runScript(
        opened,
        script,
        keys((name) => opened.toKey(name)),
        [opened.toKey(""), from, ...args],
      ),
    );
    const [next, removed, seen] = page.parse(reply);
    total += removed;
    from = next;
    size = seen;
  }
  return total;
}
