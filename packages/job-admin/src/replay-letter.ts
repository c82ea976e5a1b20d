import { askQueue, contracts, type QueueName, runScript } from "@millrace/worker-config";
import { replayFields } from "@millrace/worker-config/contracts";
import { Job, type Queue } from "bullmq";
import { z } from "zod";
import { type DeadLetterRow, readDeadLetters } from "./dead-letter.ts";
import { isJobKey } from "./job-key.ts";
import { findMissing } from "./quarantine-entry.ts";
import { statisticsKey } from "./read-queue-counts.ts";

const outcomes = z.enum([
  "replayed",
  "unknown",
  "quarantined",
  "not_failed",
  "corrupt",
  "children_open",
  "replayed_already",
]);

/**
 * - `replayed`: it waits to run, as new.
 * - `unknown`: the queue holds no such job (any more).
 * - `quarantined`: a worker took it out of its queue, because its record was damaged. It can be discarded.
 * - `not_failed`: it waits, runs or has succeeded; perhaps somebody else has replayed it.
 * - `corrupt`: its record cannot be read as a job. It can be purged.
 * - `children_open`: a flow's parent one of whose children failed, has not ended or was purged. It would run and could not complete:
 *   replay the children first, and the parent when they have ended.
 * - `replayed_already`: it was replayed since the run began, by this run or another, and has failed again.
 */
export type ReplayOutcome = z.infer<typeof outcomes>;

// Counts the replay before it happens: if the process dies in between, the letter lies where it lay, with one replay too many on its count.
// Redis's clock, because only then a job that dies at once counts as replayed on every machine.
const script = {
  name: "millraceClaimReplay",
  numberOfKeys: 3,
  lua: `
if redis.call("EXISTS", KEYS[1]) == 0 then return "unknown" end
if not redis.call("ZSCORE", KEYS[2], ARGV[1]) then return "not_failed" end
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local known = redis.call("HMGET", KEYS[1], "${replayFields.count}", "${replayFields.at}")
local count, last = tonumber(known[1] or "") or 0, tonumber(known[2] or "")
if last and last >= tonumber(ARGV[2]) and last <= now then return "replayed_already" end
if redis.call("SCARD", KEYS[1] .. ":dependencies") > 0 or redis.call("ZCARD", KEYS[1] .. ":unsuccessful") > 0 then
  return "children_open"
end
if ARGV[3] == "try" then return "replayed" end
redis.call("ZREM", KEYS[3], ARGV[1])
redis.call("HDEL", KEYS[1], "stc")
redis.call("HSET", KEYS[1], "${replayFields.count}", count + 1, "${replayFields.at}", string.format("%.0f", now))
return "replayed"`,
};

/**
 * Moves one failed job back to those that wait, if it has not been replayed since `sinceMs` of Redis's clock. Attempts, starts and stalls
 * begin anew; what it failed of last stays readable in its stack traces.
 *
 * @param isTry asks the same questions and moves nothing
 * @returns what came of it, and the letter as it lay there
 */
export async function replayLetter(
  queue: QueueName,
  jobId: string,
  sinceMs: number,
  isTry: boolean,
): Promise<{ outcome: ReplayOutcome; letter?: DeadLetterRow | undefined }> {
  return askQueue(contracts[queue], async (opened) => {
    if (!isJobKey(opened, jobId)) return { outcome: "unknown" };
    const letter = (await readDeadLetters(opened, queue, [jobId])).get(jobId);
    if (letter?.code === "corrupt") return { outcome: "corrupt", letter };
    const keys = [opened.toKey(jobId), opened.toKey("failed"), `${statisticsKey(queue)}:cancelled`];
    const claim = outcomes.parse(await runScript(opened, script, keys, [jobId, sinceMs, isTry ? "try" : "replay"]));
    const outcome = claim === "replayed" && !isTry ? await retry(opened, jobId) : claim;
    return { outcome: outcome === "unknown" ? await findMissing(opened, queue, jobId) : outcome, letter };
  });
}

/** BullMQ's own way back, one script: it knows paused queues, priorities, sleeping workers and the parent that a child belongs to. */
async function retry(queue: Queue, jobId: string): Promise<ReplayOutcome> {
  // The move needs the id alone, and the payload stays unread.
  const job = new Job(queue, "", undefined, {}, jobId);
  try {
    await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
    return "replayed";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // BullMQ's numbers for a record that is gone and for one that lies elsewhere by now.
    if (code === -1) return "unknown";
    if (code === -3) return "not_failed";
    throw error;
  }
}
