import type { Logger } from "@millrace/logger";
import { ownKey } from "@millrace/redis";
import { formatJobFailure } from "@millrace/worker-config/contracts";
import { type Job, WaitingError, type Worker } from "bullmq";
import { type JobObserver, tellObservers } from "./job-observer.ts";
import type { ScreenedWorker } from "./screened-worker.ts";

// Fields are kept as they are, byte for byte, and so is what lies there instead of a record. A record that was gone holds only what the
// fetch itself wrote into it. The time is Redis', by which a purge tells what is old, and the worker's where
// Redis does not say it: asked for before anything is written, since nothing is taken back where a script breaks off. DUMP is for kinds of keys that only modules know.
const script = `
if redis.call("GET", KEYS[2]) ~= ARGV[2] then return "lost" end
local time = redis.pcall("TIME")
local now = time.err and tonumber(ARGV[4]) or time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("DEL", KEYS[2])
redis.call("LREM", KEYS[3], 1, ARGV[1])
redis.call("SREM", KEYS[4], ARGV[1])
local kind = redis.call("TYPE", KEYS[1])
kind = type(kind) == "table" and kind.ok or kind
local fields = {}
if kind == "hash" or kind == "none" then
  local record = redis.call("HGETALL", KEYS[1])
  for index = 1, #record, 2 do fields[record[index]] = record[index + 1] end
  kind = nil
else
  local readers = {
    string = { "GET", KEYS[1] },
    list = { "LRANGE", KEYS[1], 0, -1 },
    set = { "SMEMBERS", KEYS[1] },
    zset = { "ZRANGE", KEYS[1], 0, -1, "WITHSCORES" },
    stream = { "XRANGE", KEYS[1], "-", "+" }
  }
  local value = redis.call(unpack(readers[kind] or { "DUMP", KEYS[1] }))
  fields.value = type(value) == "table" and cjson.encode(value) or value
end
local reason = (kind or fields.data or fields.name) and "corrupt" or "evicted"
local entry = { jobId = ARGV[1], reason = reason, quarantinedAt = now, kind = kind, fields = fields }
redis.call("HSET", KEYS[5], ARGV[1], cjson.encode(entry))
redis.call("DEL", KEYS[1])
for _, side in ipairs({ ":logs", ":processed", ":failed", ":unsuccessful" }) do redis.call("DEL", KEYS[1] .. side) end
local isRead, link = pcall(cjson.decode, fields.parent or "")
if not isRead or type(link) ~= "table" or type(link.queueKey) ~= "string" or type(link.id) ~= "string" then
  local queueKey, id = string.match(fields.parentKey or "", "^(.+):([^:]+)$")
  link = { queueKey = queueKey, id = id }
end
if link.id then
  local parent = link.queueKey .. ":" .. link.id
  if redis.pcall("SREM", parent .. ":dependencies", KEYS[1]) == 1 then
    local survives = link.cpof or link.idof or link.rdof
    if not survives then redis.call("HSET", parent, "defa", "child " .. KEYS[1] .. " failed") end
    local isDue = not survives or link.cpof or redis.call("SCARD", parent .. ":dependencies") == 0
    if isDue and redis.call("ZREM", link.queueKey .. ":waiting-children", link.id) == 1 then
      redis.call("ZADD", link.queueKey .. ":delayed", 0, link.id)
      redis.call("ZADD", link.queueKey .. ":marker", 0, "0")
    end
  end
end
redis.call("XADD", KEYS[6], "*", "event", "failed", "jobId", ARGV[1], "failedReason", ARGV[3] .. reason .. ".", "prev", "active")
return reason`;

/**
 * Takes a job that nobody can read out of its queue and puts its record, as it is, into the queue's quarantine: a hash of job ids at
 * `_quarantine:<queue>`, each with the JSON of its id, the reason, the time and the record's raw fields; where another kind of key lies in the
 * record's place, with that `kind`, and what it holds as the field `value`. To its parent in a flow it is a
 * failed child; one that goes on without it does, any other fails. A record that is gone names no parent.
 *
 * BullMQ's event says that the job failed, with the code `quarantined`, as its status does, and why in its message. The log and the observers
 * tell the reasons apart: `corrupt`, `evicted`, or `lost` when another worker holds the job by now, of which observers hear nothing. They hear of
 * an action without a name.
 *
 * @throws WaitingError always: the job has been moved, so that BullMQ records nothing and goes on
 */
export async function quarantine(
  worker: ScreenedWorker,
  { prefix, log, observers = [] }: { prefix: string; log: Logger; observers?: readonly JobObserver[] },
  job: Job<unknown, unknown, string>,
  token: string | undefined,
): Promise<never> {
  const code = await moveToQuarantine(worker, prefix, job.id ?? "", token);
  log.error(
    { queue: worker.name, jobId: job.id, outcome: "quarantined", code },
    "job quarantined, its record cannot be read",
  );
  if (code !== "lost") {
    const start = { queue: worker.name, action: "", jobId: job.id ?? "", attempt: 0, waitMs: null, durationMs: null };
    tellObservers(observers, { ...start, outcome: "failed", code }, log);
  }
  worker.letGoOf(job);
  throw new WaitingError();
}

async function moveToQuarantine(
  worker: Worker<unknown, unknown, string>,
  prefix: string,
  jobId: string,
  token: string | undefined,
): Promise<"corrupt" | "evicted" | "lost"> {
  const client = await worker.getBackend().client;
  client.defineCommand("millraceQuarantineJob", { numberOfKeys: 6, lua: script });
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
    formatJobFailure({ code: "quarantined", message: "The job lies in quarantine, since its record was " }),
    Date.now(),
  ]);
}
