import { ownKey } from "@millrace/redis";
import { formatJobFailure } from "@millrace/worker-config/contracts";
import type { Job, Worker } from "bullmq";

// The record moves as it is, so that its raw bytes survive. A record that was gone holds only what the fetch itself wrote into it.
const script = `
if redis.call("GET", KEYS[2]) ~= ARGV[2] then return "lost" end
redis.call("DEL", KEYS[2])
redis.call("LREM", KEYS[3], 1, ARGV[1])
redis.call("SREM", KEYS[4], ARGV[1])
local reason = "corrupt"
if redis.call("HEXISTS", KEYS[1], "data") == 0 and redis.call("HEXISTS", KEYS[1], "name") == 0 then reason = "evicted" end
redis.call("HSET", KEYS[1], "quarantineReason", reason)
redis.call("RENAME", KEYS[1], KEYS[6])
redis.call("ZADD", KEYS[5], ARGV[3], ARGV[1])
redis.call("XADD", KEYS[7], "*", "event", "failed", "jobId", ARGV[1], "failedReason", ARGV[4], "prev", "active")
return reason`;

/**
 * Takes a job that nobody can read out of its queue, with its record as it is, and lists it in the queue's quarantine: a sorted set of job ids
 * by time at `_quarantine:<queue>`, beside one hash per job at `_quarantine:<queue>:<jobId>` with `quarantineReason` added.
 *
 * @returns why: `corrupt`, `evicted`, or `lost` when another worker holds the job by now
 */
export async function quarantineJob(
  worker: Worker<unknown, unknown, string>,
  prefix: string,
  job: Job<unknown, unknown, string>,
  token: string | undefined,
): Promise<"corrupt" | "evicted" | "lost"> {
  const client = await worker.getBackend().client;
  client.defineCommand("millraceQuarantineJob", { numberOfKeys: 7, lua: script });
  const jobId = job.id ?? "";
  const jobKey = worker.toKey(jobId);
  const quarantineKey = ownKey(prefix, "quarantine", worker.name);
  return client.runCommand("millraceQuarantineJob", [
    jobKey,
    `${jobKey}:lock`,
    worker.toKey("active"),
    worker.toKey("stalled"),
    quarantineKey,
    `${quarantineKey}:${jobId}`,
    worker.toKey("events"),
    jobId,
    token ?? "",
    Date.now(),
    formatJobFailure({ code: "corrupt", message: "The job's record cannot be read; it is kept in quarantine." }),
  ]);
}
