import { runScript } from "@millrace/worker-config";
import { parseJobFailure, type QueueName, replayFields, toIso } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { z } from "zod";
import { readFields } from "./read-fields.ts";
import { findRecordFlaw, vitalFields } from "./record-flaw.ts";

/** A job that failed for good, as it lies in BullMQ's failed set. Its payload is not shown. */
export interface DeadLetter {
  readonly queue: QueueName;
  readonly jobId: string;
  /** Null where the record does not say. */
  readonly action: string | null;
  /** `corrupt` where the record cannot be read as a job, whatever it failed of before. */
  readonly code: string;
  readonly message: string;
  /** Attempts that ended, since the last replay. */
  readonly attemptsMade: number;
  /** Times that a worker took the job up, since the last replay: deferrals, hand-backs and dead workers count as well. */
  readonly starts: number;
  readonly createdAt: string | null;
  readonly failedAt: string;
  readonly replays: number;
  readonly lastReplayedAt: string | null;
  /** The last failure's stack trace. */
  readonly stack: string | null;
}

/** A letter without its stack, which only a list that people read needs. */
export type DeadLetterRow = Omit<DeadLetter, "stack">;

// Payloads stay in Redis: the script only says whether they look like JSON. A row less than asked for means that a megabyte of them has
// been looked at, which is as long as Redis should be held up. `pcall`, because a key may even hold no hash.
const script = {
  name: "millraceReadDeadLetters",
  numberOfKeys: 1,
  lua: `
local rows, bytes = {}, 0
for index = 2, #ARGV do
  local id, key, row = ARGV[index], ARGV[1] .. ARGV[index], {}
  local failedAt = redis.call("ZSCORE", KEYS[1], id)
  if failedAt then
    row = redis.pcall("HMGET", key, "name", "timestamp", "failedReason", "atm", "ats", "${replayFields.count}", "${replayFields.at}")
    if row.err then row = {false, false, false, false, false, false, false} end
    local suspect = "0"
    local texts = redis.pcall("HMGET", key, "data", "opts", "progress", "parent")
    if texts.err then suspect = "1" else
      for place = 1, 4 do
        local text = texts[place]
        if text then
          bytes = bytes + #text
          if not pcall(cjson.decode, text) then suspect = "1" end
        elseif place <= 2 then suspect = "1" end
      end
    end
    row[8], row[9] = suspect, failedAt
  end
  rows[#rows + 1] = row
  if bytes > 1048576 then break end
end
return rows`,
};

const text = z.string().nullable();
const rowSchema = z.tuple([text, text, text, text, text, text, text, text, z.string()]);
const rowsSchema = z.array(z.union([rowSchema, z.tuple([])]));

/** Reads letters by their ids. One that has left the failed set is not in the answer; one whose record is damaged is. */
export async function readDeadLetters(
  queue: Queue,
  name: QueueName,
  jobIds: readonly string[],
): Promise<Map<string, DeadLetterRow>> {
  const letters = new Map<string, DeadLetterRow>();
  for (let next = 0; next < jobIds.length; ) {
    const asked = jobIds.slice(next);
    const rows = rowsSchema.parse(await runScript(queue, script, [queue.toKey("failed")], [queue.toKey(""), ...asked]));
    next += rows.length;
    for (const [index, row] of rows.entries()) {
      const jobId = asked[index];
      if (row.length === 0 || jobId === undefined) continue;
      letters.set(jobId, await toLetter(queue, name, jobId, row));
    }
  }
  return letters;
}

async function toLetter(
  queue: Queue,
  name: QueueName,
  jobId: string,
  [action, timestamp, failedReason, attempts, starts, replays, replayedAt, suspect, failedAt]: z.infer<
    typeof rowSchema
  >,
): Promise<DeadLetterRow> {
  // Lua's JSON refuses things that JavaScript's takes (half of an emoji), so its doubt is a reason to look, not a verdict.
  const isDoubtful = suspect === "1" || !action || toIso(timestamp) === null;
  const flaw = isDoubtful ? findRecordFlaw(await readFields(queue, jobId, vitalFields)) : undefined;
  const failure = parseJobFailure(failedReason ?? "");
  const damage = `The job cannot run again: ${flaw}.${failedReason ? ` It failed before: ${failedReason}` : ""}`;
  return {
    queue: name,
    jobId,
    action: action || null,
    code: flaw ? "corrupt" : failure.code,
    message: flaw ? damage : failure.message,
    attemptsMade: toCount(attempts),
    starts: toCount(starts),
    createdAt: toIso(timestamp),
    failedAt: toIso(failedAt) ?? new Date(0).toISOString(),
    replays: toCount(replays),
    lastReplayedAt: toIso(replayedAt),
  };
}

function toCount(stored: string | null): number {
  const count = Number(stored ?? 0);
  return Number.isSafeInteger(count) && count >= 0 ? count : 0;
}
