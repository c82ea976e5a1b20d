import { askQueue, contracts, type QueueName, runScript } from "@millrace/worker-config";
import { statisticsMarks } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { z } from "zod";
import { isJobKey } from "./job-key.ts";
import { findMissing } from "./quarantine-entry.ts";
import { statisticsKey } from "./read-queue-counts.ts";
import { removeLetter } from "./remove-letter.ts";

export const removeOutcomes = z.enum([
  "removed",
  "unknown",
  "quarantined",
  "active",
  "awaited",
  "children_open",
  "scheduled",
  "corrupt",
  "changed",
]);

/**
 * - `removed`: it is gone, with its payload, result and logs.
 * - `unknown`: the queue holds no such job (any more).
 * - `quarantined`: it lies in quarantine, from where `discardQuarantined` removes it.
 * - `active`: it runs, or its worker died a moment ago. Cancel it instead.
 * - `awaited`: its parent in a flow waits for it, and would run without its result. Cancel it or its parent instead.
 * - `children_open`: it waits for children, which would go on without it. Cancel it instead.
 * - `scheduled`: it is the next run of a BullMQ job scheduler, which is to be removed itself.
 * - `corrupt`: no record lies in its place, and no list of the queue names it: perhaps it is none of ours.
 * - `changed`: it was replayed, or has ended, while it was looked at. Ask again.
 */
export type RemoveOutcome = z.infer<typeof removeOutcomes>;

const script = {
  name: "millraceCheckRemoval",
  numberOfKeys: 3,
  lua: `
local job, active, failed, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local failedAt = redis.call("ZSCORE", failed, id)
if failedAt then return failedAt end
if redis.call("EXISTS", job) == 0 then return "unknown" end
if redis.call("EXISTS", job .. ":lock") == 1 then return "active" end
for _, running in ipairs(redis.call("LRANGE", active, 0, -1)) do
  if running == id then return "active" end
end
if redis.call("TYPE", job).ok ~= "hash" then
  local found = 0
  for _, list in ipairs({"wait", "paused"}) do found = found + redis.call("LREM", ARGV[2] .. list, 0, id) end
  for _, set in ipairs({"prioritized", "delayed", "waiting-children", "completed"}) do
    found = found + redis.call("ZREM", ARGV[2] .. set, id)
  end
  if found == 0 then return "corrupt" end
  for _, side in ipairs({"", ":logs", ":dependencies", ":processed", ":failed", ":unsuccessful"}) do
    redis.call("DEL", job .. side)
  end
  return "taken"
end
if redis.call("HEXISTS", job, "finishedOn") == 1 then return "removed" end
local parent = redis.call("HGET", job, "parentKey")
if parent and redis.pcall("SISMEMBER", parent .. ":dependencies", job) == 1
  and redis.pcall("HEXISTS", parent, "finishedOn") == 0 and redis.call("EXISTS", parent) == 1 then return "awaited" end
if redis.call("SCARD", job .. ":dependencies") > 0 then return "children_open" end
return "removed"`,
};

// `taken`: it was no record, which BullMQ's own removal cannot read, and is gone.
const replySchema = z.union([removeOutcomes, z.literal("taken"), z.coerce.number()]);

/**
 * Removes a job for good that waits, is delayed, or has ended. Nothing tells its producer.
 *
 * @throws QueueUnavailableError when Redis does not answer; asking again is safe
 */
export async function removeJob(queue: QueueName, jobId: string): Promise<RemoveOutcome> {
  const checked = await askQueue(contracts[queue], async (opened) => {
    if (!isJobKey(opened, jobId)) return "unknown";
    const keys = [opened.toKey(jobId), opened.toKey("active"), opened.toKey("failed")];
    const reply = replySchema.parse(await runScript(opened, script, keys, [jobId, opened.toKey("")]));
    return reply === "unknown" ? findMissing(opened, queue, jobId) : reply;
  });
  if (typeof checked === "number") {
    const outcome = await removeLetter({ queue, jobId, failedAtMs: checked }, false);
    return outcome === "left" ? "changed" : outcome;
  }
  if (checked !== "removed" && checked !== "taken") return checked;
  return askQueue(contracts[queue], async (opened) => {
    if (checked === "taken") {
      await removeMarks(opened, queue, jobId);
      return "removed";
    }
    switch (await opened.remove(jobId, { removeChildren: false })) {
      case 1:
        await removeMarks(opened, queue, jobId);
        return "removed";
      // BullMQ's number for the next run of a scheduler.
      case -8:
        return "scheduled";
      default:
        return "active";
    }
  });
}

async function removeMarks(opened: Queue, queue: QueueName, jobId: string): Promise<void> {
  const client = await opened.getBackend().client;
  const keys = statisticsMarks.map((mark) => `${statisticsKey(queue)}:${mark}`);
  await Promise.all(keys.map((key) => client.runCommand("zrem", [key, jobId])));
}
