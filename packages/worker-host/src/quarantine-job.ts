import { ownKey } from "@millrace/redis";
import { formatJobFailure } from "@millrace/worker-config/contracts";
import type { Job, Worker } from "bullmq";

// Fields are kept as they are, byte for byte. A record that was gone holds only what the fetch itself wrote into it.
const script = `
if redis.call("GET", KEYS[2]) ~= ARGV[2] then return "lost" end
redis.call("DEL", KEYS[2])
redis.call("LREM", KEYS[3], 1, ARGV[1])
redis.call("SREM", KEYS[4], ARGV[1])
local fields = {}
local record = redis.call("HGETALL", KEYS[1])
for index = 1, #record, 2 do fields[record[index]] = record[index + 1] end
local reason = (fields.data or fields.name) and "corrupt" or "evicted"
local entry = { jobId = ARGV[1], reason = reason, quarantinedAt = tonumber(ARGV[3]), fields = fields }
redis.call("HSET", KEYS[5], ARGV[1], cjson.encode(entry))
redis.call("DEL", KEYS[1])
local isRead, link = pcall(cjson.decode, fields.parent or "")
if isRead and type(link) == "table" and link.queueKey and link.id then
  local parent = link.queueKey .. ":" .. link.id
  if redis.call("SREM", parent .. ":dependencies", KEYS[1]) == 1 then
    local survives = link.cpof or link.idof or link.rdof
    if not survives then redis.call("HSET", parent, "defa", "child " .. KEYS[1] .. " failed") end
    local isDue = not survives or link.cpof or redis.call("SCARD", parent .. ":dependencies") == 0
    if isDue and redis.call("ZREM", link.queueKey .. ":waiting-children", link.id) == 1 then
      redis.call("ZADD", link.queueKey .. ":delayed", 0, link.id)
      redis.call("ZADD", link.queueKey .. ":marker", 0, "0")
    end
  end
end
redis.call("XADD", KEYS[6], "*", "event", "failed", "jobId", ARGV[1], "failedReason", ARGV[4], "prev", "active")
return reason`;

/**
 * Takes a job that nobody can read out of its queue and puts its record, as it is, into the queue's quarantine: a hash of job ids at
 * `_quarantine:<queue>`, each with the JSON of its id, the reason, the time and the record's raw fields. To its parent in a flow it is a
 * failed child; one that goes on without it does, any other fails. A record that is gone names no parent.
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
  client.defineCommand("millraceQuarantineJob", { numberOfKeys: 6, lua: script });
  const jobId = job.id ?? "";
  const jobKey = worker.toKey(jobId);
  return client.runCommand("millraceQuarantineJob", [
    jobKey,
    `${jobKey}:lock`,
    worker.toKey("active"),
    worker.toKey("stalled"),
    ownKey(prefix, "quarantine", worker.name),
    worker.toKey("events"),
    jobId,
    token ?? "",
    Date.now(),
    formatJobFailure({ code: "corrupt", message: "The job's record cannot be read; it is kept in quarantine." }),
  ]);
}
