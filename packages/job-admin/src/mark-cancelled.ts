import { readQueueEnv, runScript } from "@millrace/worker-config";
import { cancelChannel, cancelledReason, type QueueName } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { z } from "zod";

const outcomes = z.enum(["cancelled", "cancelling", "finished", "unknown", "corrupt"]);

/**
 * - `cancelled`: it will not run (again), and its status says `cancelled` from now on.
 * - `cancelling`: it runs; its worker has been told, aborts its signal and ends it. Where that worker has died, another one does within a minute.
 * - `finished`: it had ended before, and stays as it was.
 * - `unknown`: the queue holds no such job.
 * - `corrupt`: no record lies in its place. A worker that comes to it puts it into quarantine.
 */
export type MarkOutcome = z.infer<typeof outcomes>;

const effects = z.enum(["fails", "waits", "runs"]);

/**
 * What a child's cancellation, which is a failure, does to the parent that waits for it:
 * - `fails`: the parent fails with the code `child_failed` (`failParentOnFailure`, or no option at all).
 * - `waits`: it waits for its other children and runs without this one (`ignoreDependencyOnFailure`, `removeDependencyOnFailure`).
 * - `runs`: it runs at once and sees the failure (`continueParentOnFailure`).
 */
export type ParentEffect = z.infer<typeof effects>;

// `defa` is the field in which BullMQ keeps a failure that is settled before a job runs: whichever worker takes the job fails it with
// that reason and runs nothing, at no cost for other jobs. The message reaches an attempt that runs already, on any process; both at
// once, so that a job between the two states escapes neither. A job that has stalled too often gets another such failure, over this one: the
// count of stalls begins anew.
//
// `parent` is the field by which BullMQ knows what a failure does to the parent, and it is read when the job ends. Two cases change it:
// A parent that is cancelled itself has its own reason, and a child's failure would overwrite it: the link loses its options. A parent
// whose child has no option would wait for ever: it, and each parent above it of which the same is true, fails.
const script = {
  name: "millraceCancelJob",
  numberOfKeys: 2,
  lua: `
local job, active, id, reason, channel, cancelledParent = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local function linkOf(key)
  local stored = redis.pcall("HGET", key, "parent")
  if type(stored) ~= "string" then return nil end
  local isRead, link = pcall(cjson.decode, stored)
  if isRead and type(link) == "table" and link.queueKey and link.id then return link, link.queueKey .. ":" .. link.id end
end

if redis.call("EXISTS", job) == 0 then return {"unknown"} end
if redis.call("TYPE", job).ok ~= "hash" then return {"corrupt"} end
local children = redis.call("SCARD", job .. ":dependencies")
if redis.call("HEXISTS", job, "finishedOn") == 1 then return {"finished", children} end
redis.call("HSET", job, "defa", reason)
redis.call("HDEL", job, "stc")
redis.call("PUBLISH", channel, id)
local isRunning = redis.call("EXISTS", job .. ":lock") == 1
if not isRunning then
  for _, running in ipairs(redis.call("LRANGE", active, 0, -1)) do isRunning = isRunning or running == id end
end
local outcome = isRunning and "cancelling" or "cancelled"

local link, parent = linkOf(job)
if not parent or redis.pcall("SISMEMBER", parent .. ":dependencies", job) ~= 1 then return {outcome, children} end
if parent == cancelledParent then
  redis.call("HSET", job, "parent", cjson.encode({id = link.id, queueKey = link.queueKey}))
  return {outcome, children}
end
local effect = (link.cpof and "runs") or ((link.idof or link.rdof) and "waits") or "fails"
local key = job
for _ = 1, 100 do
  local up, above = linkOf(key)
  if not up or up.cpof or up.idof or up.rdof then break end
  if not up.fpof then
    up.fpof = true
    redis.call("HSET", key, "parent", cjson.encode(up))
  end
  key = above
end
return {outcome, children, parent, effect}`,
};

const replySchema = z.tuple([outcomes, z.int().default(0), z.string().optional(), effects.optional()]);

export interface MarkedJob {
  readonly outcome: MarkOutcome;
  /** Children that have not ended, or failed without an option. */
  readonly children: number;
  /** The parent that waits for the job, by its key. */
  readonly parent?: { readonly key: string; readonly effect: ParentEffect };
}

/**
 * Calls one job off. One that waits for its children goes on waiting until `releaseCancelled`, so that its children can be called off first.
 *
 * @param cancelledParent the key of the parent that is being called off with it
 */
export async function markCancelled(
  queue: Queue,
  name: QueueName,
  jobId: string,
  cancelledParent: string | undefined,
): Promise<MarkedJob> {
  const channel = cancelChannel(readQueueEnv().QUEUE_PREFIX, name);
  const args = [jobId, cancelledReason, channel, cancelledParent ?? ""];
  const reply = replySchema.parse(await runScript(queue, script, [queue.toKey(jobId), queue.toKey("active")], args));
  const [outcome, children, key, effect] = reply;
  return { outcome, children, ...(key && effect && { parent: { key, effect } }) };
}

// A delayed job and one that waits for its children would lie about until their time. Both go the way of a delayed job whose time has
// come, which BullMQ has a script for.
const releaseScript = {
  name: "millraceReleaseCancelledJob",
  numberOfKeys: 2,
  lua: `
if redis.call("ZREM", KEYS[1], ARGV[1]) == 1 then redis.call("ZADD", KEYS[2], 0, ARGV[1]) end
return redis.call("ZSCORE", KEYS[2], ARGV[1])`,
};

/** Lets a worker clear a job away that was called off before its time. */
export async function releaseCancelled(queue: Queue, jobId: string): Promise<void> {
  const keys = [queue.toKey("waiting-children"), queue.toKey("delayed")];
  if ((await runScript(queue, releaseScript, keys, [jobId])) === null) return;
  await queue
    .getBackend()
    .promote(jobId)
    .catch((error: unknown) => {
      // BullMQ's number for a job that has left in the meantime, and needs no help.
      if (!(error instanceof Error && "code" in error && error.code === -3)) throw error;
    });
}
